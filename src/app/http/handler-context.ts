import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { FreshValues } from '../../platform/execution/fresh-values.ts';
import type { AnyCommand, Command } from '../../platform/kernel/command.ts';
import type { DomainEvent, Position } from '../../platform/kernel/event.ts';
import { isFailure, orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Query, TenantReads } from '../../platform/kernel/query.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import { inSpan } from '../../platform/observability/tracing.ts';
import { expectedTags } from './conditional-requests.ts';
import { uploadedFileOf } from './file-part.ts';
import type { KeyedRequest } from './plugins/keyed-request.ts';
import { actorOf } from './principal.ts';
import { awaitFreshness, honourPosition, type FreshnessDependencies } from './read-your-writes.ts';
import type { AnyRoute, CallerContext, HandlerContext } from './route.ts';

/** Dependencies of every handler's commands and queries. */
export interface HandlerContextDependencies extends FreshnessDependencies {
  readonly executor: Executor<CommandPorts>;
  head(): Promise<Position>;
  reads(tenantId: TenantId): TenantReads;
  vitalReads(tenantId: TenantId): TenantReads;
}

/** A request with its route and, if it has an idempotency key, the attempt that it makes. */
export interface BegunRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly declared: AnyRoute<never>;
  readonly keyed: KeyedRequest | undefined;
}

/** What a handler gets: its input, its dependencies, and functions that act for the caller. */
export function handlerContextOf<Dependencies>(
  begun: BegunRequest,
  services: Dependencies & HandlerContextDependencies,
): HandlerContext<never, never, never, never, Dependencies> {
  const { request, reply, declared, keyed } = begun;
  const { file } = declared;
  return {
    params: request.params as never,
    query: request.query as never,
    body: request.body as never,
    principal: request.principal as never,
    services,
    request,
    reply,
    fresh: keyed?.fresh ?? new FreshValues(),
    file: () => {
      if (!file) throw new TypeError('the route declares no file');
      return uploadedFileOf(request, file);
    },
    ...commandsOf(begun, services),
    ...queriesOf(begun, services),
  };
}

type Context = HandlerContext<never, never, never, never>;

function commandsOf(
  { request, reply, declared, keyed }: BegunRequest,
  services: HandlerContextDependencies,
): Pick<Context, 'execute' | 'executeAll' | 'run' | 'waitFor' | 'checkAll' | 'recall'> {
  const { executor } = services;
  const ifMatch = expectedTags(request, declared);
  const executionOf = (
    named: TenantId | CallerContext | undefined,
    command: AnyCommand,
    as?: string,
  ): ExecutionContext => ({
    ...callerOf(request, named),
    correlationId: request.id,
    ifMatch,
    ...(keyed ? { commandId: keyed.commandId(command.name, as), isRetryable: true } : {}),
  });
  const waitFor = (models: readonly ReadModelName[], position: Position) =>
    awaitFreshness(request, reply, services, models, position);
  const execute = async <Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    as?: string,
  ) => {
    const executed = orThrow(await executor.execute(command, input, executionOf(named, command, as)));
    if (executed.position !== undefined) keyed?.hasAppended();
    return executed;
  };
  return {
    execute,
    executeAll: async (command, inputs, as) => {
      const execution = {
        ...callerOf(request, undefined),
        correlationId: request.id,
        isRetryable: keyed !== undefined,
      };
      const idOf = keyed && ((input: (typeof inputs)[number]) => keyed.commandId(command.name, as(input)));
      const outcomes = await executor.executeAll(command, inputs, execution, idOf);
      if (outcomes.some((one) => !isFailure(one) && one.position !== undefined)) keyed?.hasAppended();
      return outcomes;
    },
    waitFor,
    checkAll: async (command, inputs) => {
      // An earlier attempt at this request may have run some of them: their decision is found, not made again.
      for (const input of inputs) orThrow(await executor.refusalOf(command, input, executionOf(undefined, command)));
    },
    recall: async (command, input) => {
      const executed = keyed && (await executor.recall(command, input, executionOf(undefined, command)));
      if (executed) await waitFor(command.freshens ?? [], executed.position!);
      // Not recalled, so the handler will run it: free the command id for that.
      if (keyed && !executed) keyed.notRun(command.name);
      return executed;
    },
    run: async (command, input, named, as) => {
      const executed = await execute(command, input, named, as);
      // Without changes, still wait for the head: the response must show a change made by another request a moment ago.
      const position = executed.position ?? (command.freshens ? await services.head() : undefined);
      if (position !== undefined) await waitFor(command.freshens ?? [], position);
      return executed;
    },
  };
}

function queriesOf(
  { request, reply }: BegunRequest,
  services: HandlerContextDependencies,
): Pick<Context, 'ask' | 'created'> {
  const { principal } = request;
  const ask = async <Input, Answer>(query: Query<Input, Answer>, input: Input, named?: TenantId) => {
    await honourPosition(request, reply, services);
    const isOrdinary = principal !== undefined && principal.kind !== 'device';
    const tenantId = tenantOf(request, named);
    const reads = isOrdinary ? services.reads(tenantId) : services.vitalReads(tenantId);
    return orThrow(await inSpan(query.name, { 'castellan.kind': 'query' }, () => query(reads, input)));
  };
  return {
    ask,
    created: async (executed, query, input, fromEvents, named) => {
      const made = reply.hasHeader('x-stale') ? await fromEvents(await executed.recorded()) : undefined;
      return made ?? ask(query, input, named);
    },
  };
}

function tenantOf({ principal }: FastifyRequest, named: TenantId | undefined): TenantId {
  const tenantId = named ?? principal?.tenantId;
  if (!tenantId) throw new TypeError('an open route must name the tenant that it acts for');
  return tenantId;
}

const callerOf = (request: FastifyRequest, named: TenantId | CallerContext | undefined): CallerContext =>
  typeof named === 'object'
    ? named
    : {
        tenantId: tenantOf(request, named),
        actor: actorOf(request.principal, request),
      };
