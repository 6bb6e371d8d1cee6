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

type Names = readonly (DescribedHeader | false)[];

const referring = (names: Names): object =>
  Object.fromEntries(
    names.filter((name) => name !== false).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

const BUDGET: readonly DescribedHeader[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Whether callers have a budget of requests. */
const isCounted = ({ access }: AnyRoute<never>): boolean => rateClassOf(access) !== 'none';
/** Whether it may append events: as a write, or as a read that is recorded. */
const appends = ({ method, sends = [] }: AnyRoute<never>): boolean =>
  method !== 'GET' || sends.includes('X-Log-Position');
/** Whether it may wait for read models. */
const waits = (declared: AnyRoute<never>): boolean => appends(declared) || declared.access.kind !== 'open';

const setsCookies = ({ sends = [] }: AnyRoute<never>): boolean => sends.includes('Set-Cookie');

const hasPragma = ({ sends = [] }: AnyRoute<never>): boolean => sends.includes('Pragma');

/** Of every response, whatever its status: the service sets them before it knows how the request ends. */
const ofAny = (declared: AnyRoute<never>): Names => [
  'X-Request-ID',
  'Cache-Control',
  ...(isCounted(declared) ? BUDGET : []),
  appends(declared) && 'X-Log-Position',
  waits(declared) && 'X-Stale',
  setsCookies(declared) && 'Set-Cookie',
  hasPragma(declared) && 'Pragma',
];

/** Routes with the same word share a refusal of the same codes: it has the same headers. */
export function sharedBy(declared: AnyRoute<never>): string {
  const cookies = (setsCookies(declared) ? 'WithCookie' : '') + (hasPragma(declared) ? 'WithPragma' : '');
  if (appends(declared)) return cookies;
  if (waits(declared)) return `OfRead${cookies}`;
  return `${isCounted(declared) ? 'OfOpenRead' : 'OfUncountedRead'}${cookies}`;
}

/** What follows from the declaration, and what the route declares in `sends`. */
export function headersOfSuccess(declared: AnyRoute<never>): object {
  const { access, status = 200, tagged, response, sends = [] } = declared;
  return referring([
    ...ofAny(declared),
    tagged !== undefined && response !== undefined && 'ETag',
    takesIdempotencyKey(declared) && 'Idempotent-Replayed',
    // RFC 7644 §3.1: a resource of SCIM comes with its address.
    (status >= 300 || (access.kind === 'scim' && sends.includes('ETag'))) && 'Location',
    ...sends,
  ]);
}

/** What goes with a body is left out of 304. */
const ABOUT_A_BODY: readonly DescribedHeader[] = ['Content-Disposition'];

export function headersOfNotModified(declared: AnyRoute<never>): object {
  const { access, sends = [] } = declared;
  return referring([
    ...ofAny(declared),
    'ETag',
    access.kind === 'scim' && 'Location',
    ...sends.filter((name) => !ABOUT_A_BODY.includes(name)),
  ]);
}

export const headersOfUnseen = (declared: AnyRoute<never>): object =>
  referring([...ofAny(declared), takesIdempotencyKey(declared) && 'Idempotent-Replayed']);

/** `default` is for statuses that no rule gives. */
export function headersOfRefusal(declared: AnyRoute<never>, status: number | 'default'): object {
  return referring([
    ...ofAny(declared),
    (status === 401 || (status === 403 && declared.access.kind === 'scim')) && 'WWW-Authenticate',
    (status === 429 || status === 503) && 'Retry-After',
  ]);
}
