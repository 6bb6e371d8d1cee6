import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { Limits } from '../config/limits.ts';
import { rateClassOf } from './access.ts';
import { authenticate, type AuthenticationDependencies } from './plugins/authentication.ts';
import type { EndTenantSlot } from '../../platform/fairness/tenant-scheduler.ts';
import { bindPageMark, hasPageMarks, unbindPageMark } from './plugins/bound-pages.ts';
import { awaitTenantSlot } from './plugins/tenant-scheduling.ts';
import { mayTell } from './plugins/log-trust.ts';
import { handled } from './plugins/cut-short.ts';
import { countedBy, type RateLimitsDependencies } from './plugins/rate-limits.ts';
import type { IdempotentResponses } from './plugins/idempotent-responses.ts';
import { beginKeyed, keepForRetries, replay } from './plugins/keyed-attempts.ts';
import { tagResponse } from './conditional-requests.ts';
import { handlerContextOf, type HandlerContextDependencies } from './handler-context.ts';
import type { Principal } from './principal.ts';
import { isUnseen } from './read-your-writes.ts';
import { refuseOtherMedia } from './refused-media.ts';
import {
  boundedServices,
  BULK_MS,
  REQUEST_MS,
  RequestDeadline,
  type DeadlineDependencies,
} from './request-deadline.ts';
import type { AnyRoute } from './route.ts';
import { refuseWrongInput } from './validation.ts';

/** Dependencies of serving any route, besides those of its handler. */
export type RegisterDependencies = AuthenticationDependencies &
  RateLimitsDependencies &
  DeadlineDependencies &
  HandlerContextDependencies & { readonly limits: Limits; readonly trust: LogTrust };

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined;
    /** Bounds the time of all event store calls of this request. */
    deadline: RequestDeadline | undefined;
    /** The services, bound to `deadline`. */
    services: RegisterDependencies | undefined;
    endTurn: EndTenantSlot | undefined;
  }
  interface FastifyContextConfig {
    declared?: AnyRoute<never>;
  }
}

/** A field with PEM text, 64 KiB, and the others. Of strangers nothing larger is read. */
const MAX_BYTES_OF_STRANGERS = 128 * 1024;

/** Without a limit of its own, a route that anybody may call has that of strangers, and the others that of the server. */
function bodyLimitOf({ access, mostBytes }: AnyRoute<never>): { bodyLimit?: number } {
  if (mostBytes !== undefined) return { bodyLimit: mostBytes };
  return access.kind === 'open' ? { bodyLimit: MAX_BYTES_OF_STRANGERS } : {};
}

/** Registers a declared route with Fastify: rate limit, authentication, validation, handler, response. */
export function registerRoute<Dependencies>(
  app: FastifyInstance,
  declared: AnyRoute<Dependencies>,
  services: Dependencies & RegisterDependencies,
  responses: IdempotentResponses,
): void {
  const { access, method, params, query, body } = declared;
  const schema: Record<string, unknown> = {};
  if (params) schema['params'] = params;
  if (query) schema['querystring'] = query;
  if (body && declared.consumes !== 'multipart') schema['body'] = body;
  const tell = mayTell(services.trust);
  const servicesWithin = boundedServices(services);
  const options: RouteShorthandOptions = {
    schema,
    attachValidation: true,
    config: { declared },
    ...bodyLimitOf(declared),
    onRequest: [
      async (request: FastifyRequest, reply: FastifyReply) => {
        request.deadline = new RequestDeadline(declared.isBulk ? BULK_MS : REQUEST_MS);
        request.services = servicesWithin(request.deadline);
        // Refusals have it, too.
        if (declared.sends?.includes('Pragma')) reply.header('pragma', 'no-cache');
      },
      ...countedBy(app, rateClassOf(access), services),
      async (request: FastifyRequest) => {
        const within = request.services as typeof services;
        request.principal = await authenticate(request, access, within);
        await declared.precondition?.(within);
        refuseOtherMedia(request, declared);
      },
    ],
    preValidation: [
      ...(hasPageMarks(declared) ? [unbindPageMark] : []),
      (request: FastifyRequest, reply: FastifyReply) => awaitTenantSlot(request, reply, services),
    ],
    preHandler: async (request: FastifyRequest) => refuseWrongInput(request, declared),
    ...(hasPageMarks(declared) ? { preSerialization: bindPageMark } : {}),
  };
  app.route({
    method,
    url: declared.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...options,
    handler: (request, reply) => handled(request, reply, () => handle(request, reply)),
  });

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const keyed = method === 'POST' ? await beginKeyed(request, declared, responses) : undefined;
    if (keyed && 'status' in keyed) {
      tagResponse(request, reply, declared, JSON.parse(keyed.body));
      return replay(reply, keyed);
    }
    const stopHeartbeat = keyed && responses.whileRunning(keyed);
    try {
      const outcome = await inTurn(request, services, () =>
        // `request.services` was set by the hook above, from this route's own services.
        declared.handle(handlerContextOf({ request, reply, declared, keyed }, request.services as typeof services)),
      );
      await tell(request);
      const code = successStatus(declared, reply, outcome);
      if (keyed) await keepForRetries(responses, keyed, reply, code, outcome);
      if (request.isCutShort) return reply;
      if (tagResponse(request, reply, declared, outcome)) return await reply.status(304).send();
      return await reply.status(code).send(outcome);
    } catch (error) {
      keyed?.hasFailed(error);
      if (keyed) await responses.release(keyed);
      if (request.isCutShort || !isUnseen(error, reply)) throw error;
      await tell(request);
      return await reply.status(202).send({ accepted: true, position: reply.getHeader('x-log-position') });
    } finally {
      request.endTurn?.();
      stopHeartbeat?.();
    }
  }
}

/** Limits the concurrent requests of a device, regardless of its number of connections. */
const inTurn = <T>(
  { principal }: FastifyRequest,
  { limits }: Pick<RegisterDependencies, 'limits'>,
  work: () => Promise<T>,
): Promise<T> => (principal?.kind === 'device' ? limits.devices.run(principal.deviceId, work) : work());

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
