import * as oidc from 'openid-client';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import { certificateProblem, type CertificateProblem } from '../../platform/outbound/certificate-problem.ts';
import { OutboundRefused } from '../../platform/outbound/guarded-fetch.ts';
import { NotReached, TooLarge } from './openid-calls.ts';
import { claimsRefusal, reasonFor, type AwaitedResponse } from './openid-token-refusals.ts';

/** OAuth error codes are short identifiers (RFC 6749 §4.1.2.1); any other text is dropped. */
const errorCode = (text: unknown): string =>
  typeof text === 'string' && /^[a-z_]{1,64}$/.test(text) ? text : 'unreadable error';

/** Nothing came back, or a word that the provider cannot serve now. */
const UNREACHABLE = 'unreachable';
const TOO_MANY = 'too many requests';
/** A page or a redirect came in place of a response, as during maintenance. */
const UNEXPECTED = 'unexpected response';
const PASSING: ReadonlySet<string | null> = new Set([UNREACHABLE, TOO_MANY, UNEXPECTED]);
/** True if the same callback may be good later (decision 0174). */
export const isProviderAway = (error: unknown): boolean => error instanceof SsoRefused && PASSING.has(error.detail);

/** The library's errors wrap their causes several levels deep. */
function causeOf<Kind extends Error>(error: unknown, kind: new (...made: never[]) => Kind): Kind | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof kind) return current;
    current = current.cause;
  }
  return undefined;
}

/**
 * Discovery 1.0 §4.3 requires an exact match, because the common addresses of some issuers stand for all of their
 * customers. A slash at the end is no difference: people enter both, and discovery removes it (§4.1).
 */
export const sameIssuer = (one: string, other: string): boolean => withoutSlash(one) === withoutSlash(other);
export const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

/** Undefined if the library has no code for the error. */
const codeOf = (error: unknown): string | undefined => (error instanceof oidc.ClientError ? error.code : undefined);

/** The library compares the issuer exactly; people leave out or add the slash at its end. */
export const namesOtherIssuer = (error: unknown): boolean => codeOf(error) === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** Not a matter of the network: the configuration or the provider has to change. */
const CERTIFICATE_DETAILS: Readonly<Record<CertificateProblem, string>> = {
  untrusted: 'untrusted certificate',
  expired: 'expired certificate',
  not_valid_yet: 'certificate not valid yet',
  other_name: 'certificate of another name',
};

/** Addresses in the discovery document that the library does not call. */
const ADDRESS_DETAILS: Readonly<Record<string, string>> = {
  OAUTH_HTTP_REQUEST_FORBIDDEN: 'the address must start with https://',
  OAUTH_REQUEST_PROTOCOL_FORBIDDEN: 'the address must start with https://',
  OAUTH_MISSING_SERVER_METADATA: 'the address is not a URL',
  OAUTH_INVALID_SERVER_METADATA: 'the address is not a URL',
};

const TIMED_OUT: ReadonlySet<string | undefined> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
const REQUEST_TIMEOUT = 408;
const TOO_EARLY = 425;
const TOO_MANY_REQUESTS = 429;

/** The status of a response that the library does not accept. */
export function responseStatus(error: unknown): number | undefined {
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError)
    return error.status;
  const { cause } = error as { cause?: unknown };
  return cause instanceof Response ? cause.status : undefined;
}

/** Why a call gave nothing to read; undefined if it did. */
function callDetail(error: unknown): string | undefined {
  const refused = causeOf(error, OutboundRefused);
  if (refused) return refused.message;
  const problem = certificateProblem(error);
  if (problem) return CERTIFICATE_DETAILS[problem];
  const code = codeOf(error);
  if (code !== undefined && ADDRESS_DETAILS[code]) return ADDRESS_DETAILS[code];
  if (causeOf(error, NotReached) || TIMED_OUT.has(code)) return UNREACHABLE;
  return undefined;
}

/** What a status says about the provider as a whole, and not about the request. */
function passingDetail(status: number | undefined): string | undefined {
  if (status === TOO_MANY_REQUESTS) return TOO_MANY;
  if (status === REQUEST_TIMEOUT || status === TOO_EARLY || (status !== undefined && status >= 500)) return UNREACHABLE;
  return status !== undefined && status >= 300 && status < 400 ? UNEXPECTED : undefined;
}

export const statusDetail = (status: number): string => passingDetail(status) ?? 'unexpected status';

/** The discovery document could not be read, or is invalid. */
export function issuerRefusal(error: unknown): SsoRefused {
  if (error instanceof SsoRefused) return error;
  if (namesOtherIssuer(error)) return new SsoRefused('idp_error', 'another issuer');
  const detail = callDetail(error) ?? passingDetail(responseStatus(error));
  if (detail) return new SsoRefused('idp_error', detail);
  if (causeOf(error, TooLarge)) return new SsoRefused('idp_error', 'too_large');
  return new SsoRefused('idp_error', codeOf(error) === 'OAUTH_RESPONSE_IS_NOT_JSON' ? UNEXPECTED : 'discovery');
}

const CHALLENGED: Readonly<Record<AwaitedResponse, string>> = {
  'token response': 'invalid_client',
  keys: 'unexpected status',
  'userinfo response': 'userinfo refused',
};

/** The code led to no identity: the issuer refused, could not be reached, or returned invalid data. */
export function exchangeRefusal(error: unknown, response: AwaitedResponse): SsoRefused {
  if (error instanceof SsoRefused) return error;
  if (error instanceof oidc.AuthorizationResponseError) return new SsoRefused('idp_error', errorCode(error.error));
  const status = responseStatus(error);
  const detail = callDetail(error) ?? passingDetail(status);
  const reason = reasonFor(response);
  if (detail) return new SsoRefused(reason, detail);
  if (causeOf(error, TooLarge)) return new SsoRefused('invalid_assertion', 'too_large');
  // The endpoint asks for other credentials (RFC 9110 §11.6.1), as some do for a wrong or expired client secret.
  if (error instanceof oidc.WWWAuthenticateChallengeError) return new SsoRefused(reason, CHALLENGED[response]);
  if (error instanceof oidc.ResponseBodyError) return new SsoRefused(reason, errorCode(error.error));
  if (codeOf(error) === 'OAUTH_RESPONSE_IS_NOT_JSON') return new SsoRefused(reason, UNEXPECTED);
  if (status !== undefined) return new SsoRefused(reason, statusDetail(status));
  return claimsRefusal(error, response);
}
