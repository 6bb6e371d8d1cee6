import { createHash } from 'node:crypto';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Redis } from 'ioredis';
import { FailureError, limited } from '../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import type { Services } from '../../services.ts';
import type { RateClass } from '../access.ts';

interface Budget {
  readonly max: number;
  readonly seconds: number;
}

/** Interface "Limits" and choices OP-163, OP-211, OP-212. Fixed windows; each class has a budget of its own a client. */
const budgets = (config: Config): Readonly<Record<Exclude<RateClass, 'none'>, Budget>> => ({
  admin: { max: config.adminRateLimit, seconds: 60 },
  scim: { max: 100, seconds: 60 },
  enroll: { max: config.enrollRateLimit, seconds: 60 },
  login: { max: 10, seconds: 60 },
  session: { max: config.adminRateLimit, seconds: 60 },
  setup: { max: 10, seconds: 60 },
  'org-login': { max: 20, seconds: 60 },
  recovery: { max: 5, seconds: 15 * 60 },
  oauth: { max: 30, seconds: 60 },
  device: { max: 600, seconds: 60 },
});

export async function limitRates(app: FastifyInstance, redis: Redis | undefined): Promise<void> {
  app.decorate('budgets', new Map());
  await app.register(rateLimit, {
    global: false,
    hook: 'onRequest',
    cache: 50_000,
    ...(redis ? { redis, nameSpace: 'castellan:rate:', skipOnError: true } : {}),
    errorResponseBuilder: (_request, context) => new FailureError(limited(Math.max(1, Math.ceil(context.ttl / 1000)))),
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** One limiter a class, made with its first route: a limiter for each route would give each a budget of its own. */
    budgets: Map<RateClass, onRequestAsyncHookHandler>;
  }
}

/** The hooks that count a request, before authentication, refused ones too (choice OP-215). */
export function countedBy(app: FastifyInstance, rate: RateClass, { config, trustsProxy }: Pick<Services, 'config' | 'trustsProxy'>): onRequestAsyncHookHandler[] {
  if (rate === 'none') return [];
  const known = app.budgets.get(rate);
  if (known) return [known];
  const { max: usual, seconds } = budgets(config)[rate];
  const limiter = app.rateLimit({
    max: config.rateBudgets[rate] ?? usual,
    timeWindow: seconds * 1000,
    keyGenerator: (request: FastifyRequest) => `${rate}:${(rate === 'device' && deviceKey(request, trustsProxy)) || normalizeIP(request.ip)}`,
  }) as onRequestAsyncHookHandler;
  app.budgets.set(rate, limiter);
  return [limiter];
}

/**
 * A device is known by the certificate that its connection has proved to hold the key of, or that a trusted proxy vouches for.
 * What nobody vouches for names nobody: a stranger would have a new budget with each request, or spend a device's.
 */
function deviceKey({ raw, headers }: FastifyRequest, trustsProxy: Services['trustsProxy']): string | undefined {
  const socket = raw.socket as { remoteAddress?: string; getPeerCertificate?: () => { fingerprint256?: string }; castellanPeer?: string };
  socket.castellanPeer ??= socket.getPeerCertificate?.().fingerprint256 ?? '';
  if (socket.castellanPeer) return socket.castellanPeer;
  const presented = headers['x-client-cert'];
  return typeof presented === 'string' && trustsProxy(socket.remoteAddress) ? createHash('sha256').update(presented).digest('base64') : undefined;
}
