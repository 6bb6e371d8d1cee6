import type { Access } from '../access.ts';
import { takesIdempotencyKey } from '../keyed-routes.ts';
import type { AnyRoute } from '../route.ts';
import { declaredHeaders } from '../declared-headers.ts';
import { requestHeaderWords, type RequestHeaderName } from './request-header-words.ts';

/** Request headers that follow from the rest of a route's declaration. */
const IMPLIED = {
  'Idempotency-Key': 'Chosen by the caller: a retry with the same key within 24 hours gets the first response',
  'X-Log-Position': 'A position of the log: the response shows what was written up to it, or says `X-Stale`',
} as const;

const isSession = ({ kind }: Access): boolean => kind === 'admin' || kind === 'org';

const header = (name: string, description: string, required = false) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});

const implied = (name: keyof typeof IMPLIED) => header(name, IMPLIED[name]);

/** The headers that a request may carry, besides those of conditions, re-authentication and credentials. */
export function headersOfRequest(declared: AnyRoute<never>): object[] {
  const { access, method } = declared;
  return [
    ...Object.entries(declaredHeaders(declared)).map(([name, need]) =>
      header(name, requestHeaderWords[name as RequestHeaderName], need === 'required'),
    ),
    ...(takesIdempotencyKey(declared) ? [implied('Idempotency-Key')] : []),
    ...(isSession(access) && method === 'GET' ? [implied('X-Log-Position')] : []),
  ];
}
