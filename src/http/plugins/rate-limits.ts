import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Redis } from 'ioredis';
import { FailureError, limited } from '../../kernel/failure.ts';
import type { Config } from '../../config.ts';
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
  await app.register(rateLimit, {
    global: false,
    hook: 'onRequest',
    cache: 50_000,
    ...(redis ? { redis, nameSpace: 'castellan:rate:', skipOnError: true } : {}),
    errorResponseBuilder: (_request, context) => new FailureError(limited(Math.max(1, Math.ceil(context.ttl / 1000)))),
  });
}

/** The route option that counts a request, before authentication, refused ones too (choice OP-215). */
export function budgetFor(rate: RateClass, config: Config): object {
  if (rate === 'none') return {};
  const { max: usual, seconds } = budgets(config)[rate];
  const max = config.rateBudgets[rate] ?? usual;
  return {
    rateLimit: {
      max,
      timeWindow: seconds * 1000,
      groupId: rate,
      keyGenerator: (request: FastifyRequest) => `${rate}:${rate === 'device' ? deviceKey(request) : request.ip}`,
    },
  };
}

/** A device is known by its connection or by what its proxy presents; either way a stranger only spends a budget of its own. */
const deviceKey = (request: FastifyRequest): string => {
  const socket = request.raw.socket as { getPeerCertificate?: () => { serialNumber?: string }; castellanSerial?: string };
  socket.castellanSerial ??= socket.getPeerCertificate?.().serialNumber ?? '';
  return socket.castellanSerial || (request.headers['x-client-cert'] as string | undefined)?.slice(-128) || request.ip;
};
