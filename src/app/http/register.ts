import type { CommandPorts } from '../../../commands/ports.ts';
import {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteShorthandOptions,
} from 'fastify';
import { inSpan } from '../../platform/observability/tracing.ts';
import { FreshValues } from '../../platform/execution/fresh-values.ts';
import type { ExecutionContext } from '../../platform/execution/executor.ts';
import type { AnyCommand, Command } from '../../platform/kernel/command.ts';
import type { DomainEvent, Position } from '../../platform/kernel/event.ts';
import { FailureError, invalid, orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { Limits } from '../config/limits.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { Query, TenantReads } from '../../platform/kernel/query.ts';
import { rateClassOf } from './access.ts';
import { authenticate, type AuthenticationDependencies } from './plugins/authentication.ts';
import type { EndTenantSlot } from '../../platform/fairness/tenant-scheduler.ts';
import { bindPageMark, hasPageMarks, unbindPageMark } from './plugins/bound-pages.ts';
import { awaitTenantSlot } from './plugins/tenant-scheduling.ts';
import { countedBy, type RateLimitsDependencies } from './plugins/rate-limits.ts';
import type { StoredResponse, IdempotentResponses } from './plugins/idempotent-responses.ts';
import type { KeyedRequest } from './plugins/keyed-request.ts';
import { filePart } from './file-part.ts';
import { expectedTags, tagResponse } from './conditional-requests.ts';
import { actorOf, type Principal } from './principal.ts';
import {
  boundedServices,
  BULK_MS,
  REQUEST_MS,
  RequestDeadline,
  type DeadlineDependencies,
} from './request-deadline.ts';
import { takesIdempotencyKey } from './keyed-routes.ts';
import type { AnyRoute, CallerContext, HandlerContext } from './route.ts';

/** Dependencies of serving any route, besides those of its handler. */
export type RegisterDependencies = AuthenticationDependencies &
  RateLimitsDependencies &
  DeadlineDependencies & {
    readonly limits: Limits;
    readonly freshness: Freshness;
    readonly mainModels: readonly ReadModelName[];
    reads(tenantId: TenantId): TenantReads;
    vitalReads(tenantId: TenantId): TenantReads;
  };

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined;
    /** Bounds the time of all event store calls of this request. */
    deadline: RequestDeadline | undefined;
    /** The services, bound to `deadline`. */
    services: RegisterDependencies | undefined;
    uploadedFile: Buffer | undefined;
    endTurn: EndTenantSlot | undefined;
  }
  interface FastifyContextConfig {
    declared?: AnyRoute<never>;
  }
}

/** Registers a declared route with Fastify: rate limit, authentication, validation, handler, response. */
export function registerRoute<Dependencies>(
  app: FastifyInstance,
  declared: AnyRoute<Dependencies>,
  services: Dependencies & RegisterDependencies,
  answers: IdempotentResponses,
): void {
  const { access, method, params, query, body } = declared;
  const schema: Record<string, unknown> = {};
  if (params) schema['params'] = params;
  if (query) schema['querystring'] = query;
  if (body && declared.consumes !== 'multipart') schema['body'] = body;
  const servicesWithin = boundedServices(services);
  const options: RouteShorthandOptions = {
    schema,
    config: { declared },
    ...(declared.mostBytes === undefined ? {} : { bodyLimit: declared.mostBytes }),
    onRequest: [
      async (request: FastifyRequest) => {
        request.deadline = new RequestDeadline(declared.isBulk ? BULK_MS : REQUEST_MS);
        request.services = servicesWithin(request.deadline);
      },
      ...countedBy(app, rateClassOf(access), services),
      async (request: FastifyRequest) => {
        const within = request.services as typeof services;
        request.principal = await authenticate(request, access, within);
        await declared.precondition?.(within);
        refuseOtherMedia(request, declared);
        refuseOtherPosition(request);
      },
    ],
    preValidation: [
      ...(hasPageMarks(declared) ? [unbindPageMark] : []),
      (request: FastifyRequest, reply: FastifyReply) => awaitTenantSlot(request, reply, services),
    ],
    ...(hasPageMarks(declared) ? { preSerialization: bindPageMark } : {}),
  };
  app.route({
    method,
    url: declared.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...options,
    handler: async (request, reply) => {
      const begun = method === 'POST' ? await beginOf(request, declared, answers) : undefined;
      if (begun && 'status' in begun) return replay(reply, begun);
      const stopHeartbeat = begun && answers.whileRunning(begun);
      try {
        const outcome = await inTurn(request, services, () =>
          // `request.services` was set by the hook above, from this route's own services.
          declared.handle(callOf(request, reply, request.services as typeof services, declared, begun)),
        );
        if (reply.sent) return reply;
        const code = successStatus(declared, reply, outcome);
        if (begun) await keepForRetries(answers, begun, reply, code, outcome);
        if (tagResponse(request, reply, declared, outcome)) return await reply.status(304).send();
        return await reply.status(code).send(outcome);
      } catch (error) {
        begun?.hasFailed(error);
        if (begun) await answers.release(begun);
        if (isUnseen(error, reply))
          return reply.status(202).send({ accepted: true, position: reply.getHeader('x-log-position') });
        throw error;
      } finally {
        request.endTurn?.();
        stopHeartbeat?.();
      }
    },
  });
}

/** Limits the concurrent requests of a device, regardless of its number of connections. */
const inTurn = <T>(
  { principal }: FastifyRequest,
  { limits }: Pick<RegisterDependencies, 'limits'>,
  work: () => Promise<T>,
): Promise<T> => (principal?.kind === 'device' ? limits.devices.run(principal.deviceId, work) : work());

function replay(reply: FastifyReply, { status, body, logPosition }: StoredResponse): FastifyReply {
  if (logPosition !== undefined) reply.header('x-log-position', logPosition);
  return reply.status(status).header('idempotent-replayed', 'true').type('application/json').send(body);
}

/** The declared status, or the one that the handler set, or 204 if there is no body. */
function successStatus(
  { status, response }: Pick<AnyRoute<never>, 'status' | 'response'>,
  { statusCode }: FastifyReply,
  outcome: unknown,
): number {
  if (status !== undefined) return status;
  if (statusCode !== 200) return statusCode;
  return outcome === undefined && !response ? 204 : 200;
}

/** Files are not stored: a retry builds the same file again. */
async function keepForRetries(
  answers: IdempotentResponses,
  begun: KeyedRequest,
  reply: FastifyReply,
  status: number,
  outcome: unknown,
): Promise<void> {
  if (typeof outcome === 'object' && !Buffer.isBuffer(outcome)) {
    const logPosition = reply.getHeader('x-log-position') as string | undefined;
    await answers.keep(begun, { status, body: JSON.stringify(outcome), logPosition });
  } else {
    begun.hasAppended();
    await answers.release(begun);
  }
}

/**
 * Rejects forms where JSON is expected (RFC 9110 §15.5.16), because any web page can make a browser send a form, and text in
 * an encoding other than UTF-8, which would be stored as something else.
 */
function refuseOtherMedia({ headers }: FastifyRequest, { body, consumes = 'json' }: AnyRoute<never>): void {
  const media = headers['content-type'] ?? '';
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  const isCoded = body !== undefined && !['', 'identity'].includes(coding);
  const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/)/i.test(media);
  if (isCoded) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(coding);
  if (hasOtherCharset(media) || (body && !isEmpty && consumes === 'json' && isForm))
    throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(media);
}

const POSITION = /^\d{1,19}$/;

/** Before anything is written. A position that is ignored would show the client data from before its write. */
function refuseOtherPosition({ headers, principal }: FastifyRequest): void {
  const asked = headers['x-log-position'];
  if (principal && asked !== undefined && !POSITION.test(String(asked)))
    throw new FailureError(invalid('X-Log-Position', 'must be a position that a response had'));
}

function hasOtherCharset(media: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(media)?.[1];
  return charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset);
}

/**
 * The write succeeded, but the read models did not catch up in time (choice OP-013). The new record is not found *yet*; a 404
 * would make the caller write it again.
 */
const isUnseen = (error: unknown, reply: FastifyReply): boolean =>
  reply.hasHeader('x-log-position') &&
  reply.getHeader('x-stale') === 'true' &&
  error instanceof FailureError &&
  error.failure.kind === 'notFound';

/** Idempotency keys belong to admins; anonymous callers, devices and identity providers have none. */
async function beginOf(
  request: FastifyRequest,
  declared: AnyRoute<never>,
  answers: IdempotentResponses,
): Promise<StoredResponse | KeyedRequest | undefined> {
  const { access, file } = declared;
  const { headers, principal, method, url, body } = request;
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || !principal || !takesIdempotencyKey(declared)) return undefined;
  if (principal.kind === 'device' || principal.kind === 'scim') return undefined;
  const content = file ? await fileOf(request, file) : JSON.stringify(body ?? null);
  const asksForProof = access.kind === 'admin' && access.reauthWhere !== undefined;
  const reauthenticated = asksForProof && principal.kind === 'admin' ? principal.reauthenticated : undefined;
  return answers.begin({
    tenantId: principal.tenantId,
    subjectId: principal.adminId,
    key,
    request: [method, url, content],
    standing: { role: principal.role, reauthenticated },
  });
}

/** Reads the file once: the body is a stream, and its content is also part of the idempotency key's request digest. */
async function fileOf(
  request: FastifyRequest,
  { part, mostBytes }: NonNullable<AnyRoute<never>['file']>,
): Promise<Buffer> {
  return (request.uploadedFile ??= await filePart(request, part, mostBytes));
}

function callOf<Dependencies>(
  request: FastifyRequest,
  reply: FastifyReply,
  services: Dependencies & RegisterDependencies,
  declared: AnyRoute<never>,
  keyed: KeyedRequest | undefined,
): HandlerContext<never, never, never, never, Dependencies> {
  const { principal } = request;
  const { file } = declared;
  const ifMatch = expectedTags(request, declared);
  const tenantOf = (named: TenantId | undefined): TenantId => {
    const tenantId = named ?? principal?.tenantId;
    if (!tenantId) throw new TypeError('an open route must name the tenant that it acts for');
    return tenantId;
  };
  const issuerOf = (
    named: TenantId | CallerContext | undefined,
    command: AnyCommand,
    as?: string,
  ): ExecutionContext => {
    const behalf: CallerContext =
      typeof named === 'object'
        ? named
        : { tenantId: tenantOf(named), actor: actorOf(principal, request.ip, request.headers['user-agent']) };
    return {
      ...behalf,
      correlationId: request.id,
      ifMatch,
      ...(keyed ? { commandId: keyed.commandId(command.name, as), isRetryable: true } : {}),
    };
  };
  const { executor } = services;
  const execute = async <Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    as?: string,
  ) => {
    const executed = orThrow(await executor.execute(command, input, issuerOf(named, command, as)));
    if (executed.position !== undefined) keyed?.hasAppended();
    return executed;
  };
  const seen = (models: readonly ReadModelName[], position: Position) =>
    awaitFreshness(reply, services, models, position);
  const ask = async <Input, Answer>(query: Query<Input, Answer>, input: Input, named?: TenantId) => {
    await honourPosition(request, reply, services);
    const isOrdinary = principal !== undefined && principal.kind !== 'device';
    const tenantId = tenantOf(named);
    const reads = isOrdinary ? services.reads(tenantId) : services.vitalReads(tenantId);
    return orThrow(await inSpan(query.name, { 'castellan.kind': 'query' }, () => query(reads, input)));
  };
  return {
    execute,
    ask,
    created: async (executed, query, input, fromEvents, named) => {
      const made = reply.hasHeader('x-stale') ? await fromEvents(await executed.recorded()) : undefined;
      return made ?? ask(query, input, named);
    },
    waitFor: seen,
    checkAll: async (command, inputs) => {
      // An earlier attempt at this request may have run some of them: their decision is found, not made again.
      for (const input of inputs) orThrow(await executor.refusalOf(command, input, issuerOf(undefined, command)));
    },
    params: request.params as never,
    query: request.query as never,
    body: request.body as never,
    principal: principal as never,
    services,
    request,
    reply,
    fresh: keyed?.fresh ?? new FreshValues(),
    file: () => {
      if (!file) throw new TypeError('the route declares no file');
      return fileOf(request, file);
    },
    recall: async (command, input) => {
      const executed = keyed && (await executor.recall(command, input, issuerOf(undefined, command)));
      if (executed) await awaitFreshness(reply, services, command.freshens ?? [], executed.position!);
      // Not recalled, so the handler will run it: free the command id for that.
      if (keyed && !executed) keyed.notRun(command.name);
      return executed;
    },
    run: async <Input, State, E extends DomainEvent, Facts, Result>(
      command: Command<Input, State, E, CommandPorts, Facts, Result>,
      input: Input,
      named?: TenantId | CallerContext,
      as?: string,
    ) => {
      const executed = await execute(command, input, named, as);
      // Without changes, still wait for the head: the response must show a change made by another request a moment ago.
      const position = executed.position ?? (command.freshens ? await services.head() : undefined);
      if (position !== undefined) await seen(command.freshens ?? [], position);
      return executed;
    },
  };
}

/** Read your writes (choice OP-013). A time-out is not a failure: the response is marked as stale. */
async function awaitFreshness(
  reply: FastifyReply,
  { freshness }: Pick<RegisterDependencies, 'freshness'>,
  models: readonly ReadModelName[],
  position: Position,
): Promise<void> {
  // With several commands in one request, the highest position counts, regardless of their order of completion.
  const named = BigInt(String(reply.getHeader('x-log-position') ?? 0));
  reply.header('x-log-position', (position > named ? position : named).toString());
  if (models.length > 0 && !(await freshness.waitFor(models, position))) reply.header('x-stale', 'true');
}

/**
 * Waits for the position in `X-Log-Position`; only for authenticated callers, because others cannot have written. After a
 * time-out the response says that it is stale, and further queries of the request do not wait again.
 */
async function honourPosition(
  { headers, principal }: FastifyRequest,
  reply: FastifyReply,
  { freshness, mainModels }: Pick<RegisterDependencies, 'freshness' | 'mainModels'>,
): Promise<void> {
  const asked = headers['x-log-position'];
  if (!principal || typeof asked !== 'string' || reply.hasHeader('x-stale')) return;
  if (!(await freshness.waitFor(mainModels, BigInt(asked)))) reply.header('x-stale', 'true');
}
