import * as oidc from 'openid-client';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import { certificateProblem, type CertificateProblem } from '../../platform/outbound/certificate-problem.ts';
import { OutboundRefused } from '../../platform/outbound/guarded-fetch.ts';

/** OAuth error codes are short identifiers (RFC 6749 §4.1.2.1); any other text is dropped. */
const errorCode = (text: unknown): string | null =>
  typeof text === 'string' && /^[a-z_]{1,64}$/.test(text) ? text : null;

/** Nothing came back, or a word that the provider cannot serve now. */
const UNREACHABLE = 'unreachable';
export const isProviderAway = (error: unknown): boolean => error instanceof SsoRefused && error.detail === UNREACHABLE;

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

/** Undefined if the library has no code for the error: then there was no response at all. */
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

function certificateDetail(error: unknown): string | undefined {
  const problem = certificateProblem(error);
  return problem && CERTIFICATE_DETAILS[problem];
}

/** The discovery document could not be read, or is invalid. */
export function issuerRefusal(error: unknown): SsoRefused {
  if (error instanceof SsoRefused) return error;
  const refused = causeOf(error, OutboundRefused);
  if (refused) return new SsoRefused('idp_error', refused.message);
  if (namesOtherIssuer(error)) return new SsoRefused('idp_error', 'another issuer');
  const certificate = certificateDetail(error);
  if (certificate) return new SsoRefused('idp_error', certificate);
  return new SsoRefused('idp_error', isUnanswered(error) ? UNREACHABLE : 'discovery');
}

const UNANSWERED = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
/** The response is none of the token endpoint's: an error page, or a redirect. */
const UNEXPECTED = new Set([
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
]);

/** No response, or one of a proxy or server that says it cannot serve now. */
function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  const status = causeOfStatus(error);
  return code === undefined || UNANSWERED.has(code) || (status !== undefined && status >= 500);
}

const causeOfStatus = (error: unknown): number | undefined => {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Response ? cause.status : undefined;
};

/** The code led to no identity: the issuer refused, could not be reached, or returned invalid data. */
export function exchangeRefusal(error: unknown): SsoRefused {
  if (error instanceof SsoRefused) return error;
  if (error instanceof oidc.AuthorizationResponseError) return new SsoRefused('idp_error', errorCode(error.error));
  // The endpoint asks for other credentials (RFC 9110 §11.6.1), as some do for a wrong or expired client secret.
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return new SsoRefused('token_exchange_failed', 'invalid_client');
  if (error instanceof oidc.ResponseBodyError) return new SsoRefused('token_exchange_failed', errorCode(error.error));
  const refused = causeOf(error, OutboundRefused);
  if (refused) return new SsoRefused('token_exchange_failed', refused.message);
  const certificate = certificateDetail(error);
  if (certificate) return new SsoRefused('token_exchange_failed', certificate);
  const code = codeOf(error);
  if (code === undefined || isUnanswered(error)) return new SsoRefused('token_exchange_failed', UNREACHABLE);
  if (UNEXPECTED.has(code)) return new SsoRefused('token_exchange_failed', 'unexpected response');
  return new SsoRefused('invalid_assertion', detailOf(error) ?? errorCode(code.toLowerCase()));
}

/** The name of the claim that failed, if the library reports it; never its value. */
function detailOf(error: unknown): string | null {
  const { claim } = ((error as Error).cause as { cause?: { claim?: unknown } } | undefined)?.cause ?? {};
  return errorCode(claim);
}
