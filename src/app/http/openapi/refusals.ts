import { adminRoles } from '../../../contexts/identity/domain/roles.ts';
import { permissionTable } from '../../../contexts/identity/domain/permissions.ts';
import { errorCodes, type ErrorCode } from '../../../platform/kernel/error-codes.ts';
import { rateClassOf, type Access } from '../access.ts';
import { conditionOf } from '../conditional-requests.ts';
import { statusOf } from '../refusal.ts';
import type { AnyRoute } from '../route.ts';
import { needsReauthentication } from './access-words.ts';
import { takesIdempotencyKey } from '../keyed-routes.ts';
import { headersOfRefusal, sharedBy } from './response-headers.ts';

/**
 * The codes with which a route refuses requests (OP-431, decision 0093). Most follow from its declaration; a route adds in
 * `refuses` those of its command. Codes that only the listeners send (408, 414, 431, 500) are the `default`.
 */
export function refusalCodesOf(declared: AnyRoute<never>): ErrorCode[] {
  const { access, method, path, params, refuses = [] } = declared;
  const codes: (ErrorCode | false)[] = [
    'validation_failed',
    'malformed_request',
    ...codesOfAccess(access),
    (params !== undefined || path.includes('{')) && 'not_found',
    ...(method === 'GET' ? [] : OF_WRITES),
    conditionOf(declared) === 'If-Match' && 'changed_meanwhile',
    ...(access.kind === 'scim' ? codesOfScim(declared) : []),
    ...(takesIdempotencyKey(declared) ? OF_KEYS : []),
    rateClassOf(access) !== 'none' && 'rate_limit_exceeded',
    'share_used_up',
    'service_unavailable',
    ...refuses,
  ];
  return [...new Set(codes.filter((code) => code !== false))];
}

/** RFC 7644 §3.12: a body is read in the terms of its schema. */
const codesOfScim = ({ body }: AnyRoute<never>): (ErrorCode | false)[] => [
  body !== undefined && 'scim_invalid_syntax',
  body !== undefined && 'scim_invalid_value',
];

/** A body is parsed by its content type before the route sees it, also where the route takes none or a form. */
const OF_WRITES: readonly ErrorCode[] = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
  'too_many_changes',
];

/** Of a request with `Idempotency-Key`. */
const OF_KEYS: readonly ErrorCode[] = [
  'idempotent_role_changed',
  'idempotency_key_reused',
  'idempotent_request_running',
  'idempotent_response_lost',
];

const OF_CERTIFICATES: readonly ErrorCode[] = ['certificate_expired', 'certificate_revoked', 'device_suspended'];

function codesOfAccess(access: Access): (ErrorCode | false)[] {
  if (access.kind === 'open') return [access.offered !== undefined && 'not_found'];
  return [
    'authentication_required',
    ...(access.kind === 'device' ? OF_CERTIFICATES : []),
    access.kind === 'scim' && 'insufficient_scope',
    isForSome(access) && 'insufficient_permissions',
    access.kind === 'admin' && !access.unlicensed && 'license_expired',
    needsReauthentication(access) && 'reauthentication_required',
    access.kind === 'org' && access.itsTenant === true && 'not_found',
  ];
}

function isForSome(access: Exclude<Access, { kind: 'open' }>): boolean {
  if (access.kind === 'admin') return permissionTable[access.permission].length < adminRoles.length;
  return access.kind === 'org' && access.roles !== 'any';
}

/** The phrase of a status (RFC 9110), for the names of shared responses. */
const PHRASES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

export interface NamedRefusal {
  readonly status: number;
  readonly name: string;
  readonly response: object;
}

const pascal = (code: string): string => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** One response for each status, by the name under which routes with the same codes share it. */
export function refusalsOf(declared: AnyRoute<never>): NamedRefusal[] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of refusalCodesOf(declared))
    byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  return [...byStatus].map(([status, codes]) => {
    const phrase = PHRASES[status] ?? `Status${status}`;
    const name = phrase + codes.toSorted().map(pascal).join('') + sharedBy(declared);
    return { status, name, response: refusal(declared, status, codes) };
  });
}

const refusal = (declared: AnyRoute<never>, status: number, codes: readonly ErrorCode[]): object => ({
  description: codes.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join('\n\n'),
  headers: headersOfRefusal(declared, status),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  'x-codes': codes,
});
