import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteShorthandOptions } from 'fastify';
import type { Command } from '../kernel/command.ts';
import type { DomainEvent, Position } from '../kernel/event.ts';
import { FailureError, orThrow } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Query } from '../kernel/query.ts';
import type { Services } from '../services.ts';
import { rateClassOf } from './access.ts';
import { authenticate } from './plugins/authentication.ts';
import { countedBy } from './plugins/rate-limits.ts';
import type { Asked, IdempotentAnswers } from './plugins/idempotency.ts';
import { actorOf, type Principal } from './principal.ts';
import type { AnyRoute, Behalf, Call } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined;
  }
  interface FastifyContextConfig {
    declared?: AnyRoute;
  }
}

/** Turns a declared route into a Fastify one: budget, guard, checks, handler, answer. */
export function registerRoute(app: FastifyInstance, declared: AnyRoute, services: Services, answers: IdempotentAnswers): void {
  const { access, method, params, query, body, status, answer } = declared;
  const schema: Record<string, unknown> = {};
  if (params) schema['params'] = params;
  if (query) schema['querystring'] = query;
  if (body && declared.consumes !== 'multipart') schema['body'] = body;
  const options: RouteShorthandOptions = {
    schema,
    config: { declared },
    onRequest: [
      ...countedBy(app, rateClassOf(access), services),
      async (request: FastifyRequest) => {
        request.principal = await authenticate(request, access, services);
        await declared.precondition?.(services);
        refuseOtherMedia(request, declared);
      },
    ],
  };
  app.route({
    method,
    url: declared.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...options,
    handler: async (request, reply) => {
      const asked = method === 'POST' ? askedOf(request) : undefined;
      const first = asked && (await answers.begin(asked));
      if (first) return reply.status(first.status).header('idempotent-replayed', 'true').type('application/json').send(first.body);
      try {
        const outcome = await inTurn(request, services, () => declared.handle(callOf(request, reply, services)));
        if (reply.sent) return reply;
        const code = status ?? (reply.statusCode !== 200 ? reply.statusCode : outcome === undefined && !answer ? 204 : 200);
        if (asked && typeof outcome === 'object' && !Buffer.isBuffer(outcome)) {
          await answers.keep(asked, { status: code, body: JSON.stringify(outcome) });
        } else if (asked) {
          // Files are not kept: asking for one again makes another.
          await answers.release(asked);
        }
        return await reply.status(code).send(outcome);
      } catch (error) {
        if (asked) await answers.release(asked);
        if (isUnseen(error, reply)) return reply.status(202).send({ accepted: true, position: reply.getHeader('x-log-position') });
        throw error;
      }
    },
  });
}

/** However many connections a device opens, it has so many requests under way and no more. */
const inTurn = <T>({ principal }: FastifyRequest, { limits }: Services, work: () => Promise<T>): Promise<T> =>
  principal?.kind === 'device' ? limits.devices.run(principal.deviceId, work) : work();

/** A form where JSON is asked for is something that any page can have a browser send (RFC 9110 §15.5.16). */
function refuseOtherMedia({ headers }: FastifyRequest, { body, consumes = 'json' }: AnyRoute): void {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (body && !isEmpty && consumes === 'json' && /^(?:application\/x-www-form-urlencoded|multipart\/)/i.test(headers['content-type'] ?? '')) {
    throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(headers['content-type']);
  }
}

/**
 * What was decided stands, but the read models have not come that far in time (choice OP-013): what is not found behind such a
 * write is not there *yet*, and a 404 would have the caller write it again.
 */
const isUnseen = (error: unknown, reply: FastifyReply): boolean =>
  reply.getHeader('x-stale') === 'true' && error instanceof FailureError && error.failure.kind === 'notFound';

/** Only callers with an identity can have keys of their own. */
function askedOf({ headers, principal, url, body }: FastifyRequest): Asked | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || !principal || principal.kind === 'device') return undefined;
  return { tenantId: principal.tenantId, subjectId: principal.adminId, key, request: `${url}\n${JSON.stringify(body ?? null)}` };
}

function callOf(request: FastifyRequest, reply: FastifyReply, services: Services): Call<never, never, never, never> {
  const { principal } = request;
  const tenantOf = (named: TenantId | undefined): TenantId => {
    const tenantId = named ?? principal?.tenantId;
    if (!tenantId) throw new TypeError('an open route must name the tenant that it acts for');
    return tenantId;
  };
  return {
    params: request.params as never,
    query: request.query as never,
    body: request.body as never,
    principal: principal as never,
    services,
    request,
    reply,
    run: async <Input, State, E extends DomainEvent, Needs, Facts, Result>(
      command: Command<Input, State, E, Needs, Facts, Result>,
      input: Input,
      named?: TenantId | Behalf,
    ) => {
      const behalf: Behalf =
        typeof named === 'object'
          ? named
          : { tenantId: tenantOf(named), actor: actorOf(principal, request.ip, request.headers['user-agent']) };
      const issuer = { ...behalf, correlationId: request.id };
      // The ports that any command of this house needs are the ones that the executor was built with.
      const execute = services.executor.execute.bind(services.executor) as typeof services.executor.execute<Input, State, E, unknown, Facts, Result>;
      const executed = orThrow(await execute(command as Command<Input, State, E, unknown, Facts, Result>, input, issuer));
      // Nothing had to change: but whoever changed it a moment ago may not be projected yet, and the answer must show it.
      const position = executed.position ?? (command.freshens ? await services.head() : undefined);
      if (position !== undefined) await awaitFreshness(reply, services, command.freshens ?? [], position);
      return executed;
    },
    ask: async <Input, Answer>(query: Query<Input, Answer>, input: Input, named?: TenantId) => {
      await honourPosition(request, services);
      const isOrdinary = principal?.kind === 'admin' || principal?.kind === 'org_admin';
      const tenantId = tenantOf(named);
      return orThrow(await query(isOrdinary ? services.reads(tenantId) : services.vitalReads(tenantId), input));
    },
  };
}

/** Read your writes (choice OP-013): a time-out is not a failure, only a stale answer. */
async function awaitFreshness(reply: FastifyReply, { freshness }: Services, models: readonly string[], position: Position): Promise<void> {
  // Of several commands behind one answer the last in the feed counts, whichever came back last.
  const named = BigInt(String(reply.getHeader('x-log-position') ?? 0));
  reply.header('x-log-position', (position > named ? position : named).toString());
  if (models.length > 0 && !(await freshness.waitFor(models, position))) reply.header('x-stale', 'true');
}

/** For those who can have written something: strangers keep nobody waiting. */
async function honourPosition({ headers, principal }: FastifyRequest, { freshness, mainModels }: Services): Promise<void> {
  const asked = headers['x-log-position'];
  if (principal && typeof asked === 'string' && /^\d{1,19}$/.test(asked)) await freshness.waitFor(mainModels, BigInt(asked));
}
