import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { FailureError, limited } from '../../../platform/kernel/failure.ts';
import type { Config } from '../../config/config.ts';
import type { RateClass } from '../access.ts';
import type { AccessTokens } from '../../../contexts/identity/access-tokens.ts';
import type { ScimTokens } from '../../../contexts/scim/access-tokens.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';
import { bearerToken } from '../bearer-token.ts';
import { presentedScimToken } from './scim-token.ts';
import { clientAddress } from '../client-address.ts';
import { presentedCertificateOf, type DeviceIdentityDependencies } from './device-identity.ts';
import {
  LocalRequestCounters,
  SharedRequestCounters,
  type RequestCount,
  type RequestCounters,
} from './rate-counters.ts';

export interface RateLimitsDependencies extends DeviceIdentityDependencies {
  readonly config: Pick<
    Config,
    | 'adminRateLimit'
    | 'addressRateLimit'
    | 'enrollRateLimit'
    | 'scimRateLimit'
    | 'rateBudgets'
    | 'clientCertificateHeader'
  >;
  readonly accessTokens: AccessTokens;
  readonly lookups: Lookups;
  readonly scimTokens: ScimTokens;
}

interface Budget {
  readonly max: number;
  readonly seconds: number;
}

/**
 * Interface "Limits" and choices OP-163, OP-211, OP-212. Fixed windows; one budget per class and client. `admin` is for
 * requests without a live session; an administrator has a larger budget of their own (OP-350).
 */
const budgets = (config: RateLimitsDependencies['config']): Readonly<Record<Exclude<RateClass, 'none'>, Budget>> => ({
  admin: { max: config.addressRateLimit, seconds: 60 },
  scim: { max: config.scimRateLimit, seconds: 60 },
  enroll: { max: config.enrollRateLimit, seconds: 60 },
  login: { max: 10, seconds: 60 },
  // Redirects to a provider and back: nothing can be guessed there, and an office of many people has one address.
  sso: { max: 300, seconds: 60 },
  session: { max: config.addressRateLimit, seconds: 60 },
  setup: { max: 10, seconds: 60 },
  'org-login': { max: 20, seconds: 60 },
  recovery: { max: 5, seconds: 15 * 60 },
  oauth: { max: 30, seconds: 60 },
  device: { max: 600, seconds: 60 },
  // Megabytes for a request of bytes, which needs no credential. The page around it loads a few files.
  description: { max: 30, seconds: 60 },
  reference: { max: 100, seconds: 60 },
});

/** Maximum number of clients that one process counts. */
const MAX_CLIENTS = 50_000;

export async function limitRates(app: FastifyInstance, redis: Redis | undefined, log: Logger): Promise<void> {
  app.decorate('budgets', new Map());
  const local = new LocalRequestCounters(MAX_CLIENTS);
  await app.register(rateLimit, {
    global: false,
    hook: 'onRequest',
    store: storeOf(redis ? new SharedRequestCounters(redis, local, log) : local) as never,
    errorResponseBuilder: (_request, context) => new FailureError(limited(Math.max(1, Math.ceil(context.ttl / 1000)))),
  });
}

/** The plugin expects a store class and creates a child per budget. Our keys already contain the budget's name. */
const storeOf = (counters: RequestCounters) =>
  class Store {
    incr(key: string, done: (error: Error | null, counted?: RequestCount) => void, windowMs: number): void {
      counters.count(key, windowMs).then((counted) => done(null, counted), done);
    }

    child(): Store {
      return this;
    }
  };

declare module 'fastify' {
  interface FastifyInstance {
    /** One limiter per class, created with its first route. One per route would give each route a budget of its own. */
    budgets: Map<RateClass, onRequestAsyncHookHandler>;
  }
}

/** The hooks that count a request before authentication. Refused requests count too (choice OP-215). */
export function countedBy(
  app: FastifyInstance,
  rate: RateClass,
  services: RateLimitsDependencies,
): onRequestAsyncHookHandler[] {
  if (rate === 'none') return [];
  const known = app.budgets.get(rate);
  if (known) return [known];
  const { config } = services;
  const { max: usual, seconds } = budgets(config)[rate];
  const limiter = app.rateLimit({
    max: (_request, key) =>
      config.rateBudgets[rate] ?? (key.startsWith(OF_ADMINISTRATOR) ? config.adminRateLimit : usual),
    timeWindow: seconds * 1000,
    keyGenerator: (request: FastifyRequest) => keyOf(request, rate, services),
  }) as onRequestAsyncHookHandler;
  app.budgets.set(rate, limiter);
  return [limiter];
}

const OF_ADMINISTRATOR = 'administrator:';

/**
 * An administrator is identified by a live session, so that colleagues behind one address do not share a budget, and a token
 * whose session ended uses up nobody's. A device is identified by a certificate of its tenant's authority, proved by the TLS
 * connection or a trusted proxy. All others are identified by address: otherwise an attacker would get a new budget with
 * every self-signed certificate.
 */
async function keyOf(request: FastifyRequest, rate: RateClass, unbounded: RateLimitsDependencies): Promise<string> {
  const services = request.services ?? unbounded;
  if (rate === 'admin') {
    // Without the database nobody is recognized. The authentication that follows says so.
    const administrator = await administratorOf(request, services).catch(() => undefined);
    if (administrator) return OF_ADMINISTRATOR + administrator;
  }
  if (rate === 'scim') {
    // OP-213: one client has one budget, whatever its addresses and tokens.
    const live = await presentedScimToken(request, services).catch(() => undefined);
    if (live) return `${rate}:${live.token.tenantId}/${live.client.clientId}`;
  }
  const proven = rate === 'device' ? await presentedCertificateOf(request, services) : undefined;
  return `${rate}:${proven ? `${proven.tenantId}/${proven.deviceId}` : clientAddress(request.ip)}`;
}

async function administratorOf(
  { headers }: FastifyRequest,
  { accessTokens, lookups }: Pick<RateLimitsDependencies, 'accessTokens' | 'lookups'>,
): Promise<string | undefined> {
  const token = bearerToken(headers.authorization);
  const claims = token === undefined ? undefined : await accessTokens.verify(token);
  if (!claims) return undefined;
  const find = claims.kind === 'access' ? lookups.adminSession : lookups.orgSession;
  const live = await find(claims.tenantId, claims.sessionId);
  return live && `${claims.tenantId}/${live.adminId}`;
}
