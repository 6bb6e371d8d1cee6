import { rateClassOf } from '../access.ts';
import { takesIdempotencyKey } from '../keyed-routes.ts';
import type { AnyRoute } from '../route.ts';
import { headerWords, type DescribedHeader } from './header-words.ts';

const NUMBERS: readonly string[] = ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

export const headerComponents: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(headerWords).map(([name, description]) => [
    name,
    { description, schema: { type: NUMBERS.includes(name) ? 'integer' : 'string' } },
  ]),
);

const referring = (names: readonly (DescribedHeader | false)[]): object =>
  Object.fromEntries(
    names.filter((name) => name !== false).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

const BUDGET: readonly DescribedHeader[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** What follows from the declaration, and what the route declares in `sends`. */
export function headersOfSuccess(declared: AnyRoute<never>): object {
  const { access, method, status = 200, tagged, response, sends = [] } = declared;
  const isWrite = method !== 'GET';
  const isAuthenticated = access.kind !== 'open';
  return referring([
    'X-Request-ID',
    ...(rateClassOf(access) === 'none' ? [] : BUDGET),
    isAuthenticated && isWrite && 'X-Log-Position',
    isAuthenticated && 'X-Stale',
    tagged !== undefined && response !== undefined && 'ETag',
    takesIdempotencyKey(declared) && 'Idempotent-Replayed',
    status >= 300 && 'Location',
    ...sends,
  ]);
}

export const headersOfUnseen = referring(['X-Request-ID', 'X-Log-Position', 'X-Stale']);

/** `default` is for statuses that no rule gives. */
export function headersOfRefusal(status: number | 'default'): object {
  return referring([
    'X-Request-ID',
    status === 401 && 'WWW-Authenticate',
    (status === 429 || status === 503) && 'Retry-After',
  ]);
}
