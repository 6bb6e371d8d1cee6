import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FailureError, invalidFields } from '../../../platform/kernel/failure.ts';

const PREFLIGHT_SECONDS = 600;

/** Request headers that a script may send. `docs/reference/api-conventions.md` describes them. */
export const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'X-Log-Position',
  'X-ReAuth-Token',
  'X-Tenant-ID',
];

/** Response headers that a script may read, besides those that every browser shows (Fetch standard). */
export const EXPOSED_HEADERS = [
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  'X-Log-Position',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-ID',
  'X-Stale',
];

/**
 * Lets scripts of the listed origins call the API. Without a list, no response has a CORS header, and browsers refuse every
 * other origin. Credentials are allowed because the code of a single sign-on is bound to a cookie of the browser.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  app.addHook('onRequest', (request, _reply, done) => done(incompletePreflight(request)));
  await app.register(cors, {
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
  });
}

/** The library would answer in a form of its own. */
function incompletePreflight({ method, headers }: FastifyRequest): FailureError | undefined {
  const missing = ['Origin', 'Access-Control-Request-Method'].filter((name) => !headers[name.toLowerCase()]);
  const [first, ...others] = missing.map((field) => ({ field, message: 'is required in a preflight request' }));
  return method === 'OPTIONS' && first ? new FailureError(invalidFields([first, ...others])) : undefined;
}
