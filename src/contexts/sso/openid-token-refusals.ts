import * as oidc from 'openid-client';
import { SsoRefused } from '../identity/sso-sign-in.ts';

/** What the library says about data that it does not accept. Its error is the cause of the client's error. */
interface LibraryError {
  readonly code: string | undefined;
  readonly message: string;
  /** What the error is about. */
  readonly about: Readonly<Record<string, unknown>>;
}

function libraryError(error: unknown): LibraryError {
  const own = error instanceof oidc.ClientError && error.cause instanceof Error ? error.cause : (error as Error);
  const { cause, message } = own;
  const about = typeof cause === 'object' && cause !== null && !(cause instanceof Error) ? cause : {};
  return {
    code: error instanceof oidc.ClientError ? error.code : undefined,
    message,
    about: about as Readonly<Record<string, unknown>>,
  };
}

const refused = (detail: string) => new SsoRefused('invalid_assertion', detail);

/** The response that a call of a sign-in was about, after the code had come. */
export type AwaitedResponse = 'token response' | 'keys' | 'userinfo response';

/** Only the token endpoint exchanges a code. The others are away, or wrong, while tokens are there. */
export const reasonFor = (response: AwaitedResponse): 'token_exchange_failed' | 'idp_error' =>
  response === 'token response' ? 'token_exchange_failed' : 'idp_error';

/** A response was read, but what is in it does not count. The detail names what, never its value. */
export function claimsRefusal(error: unknown, response: AwaitedResponse): SsoRefused {
  const library = libraryError(error);
  switch (library.code) {
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return refused(claimOf(library.about['claim']) ?? 'malformed');
    // Only the userinfo endpoint's subject is compared in this way.
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return refused('two subjects');
    case 'OAUTH_KEY_SELECTION_FAILED':
      return refused('oauth_key_selection_failed');
    case 'OAUTH_PARSE_ERROR':
      return library.message.includes('"response" body')
        ? new SsoRefused(reasonFor(response), 'unexpected response')
        : refused('malformed');
    case 'OAUTH_INVALID_RESPONSE':
      return invalidData(library, response);
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return refused(unsupported(library));
    default:
      // WebCrypto does not import the key. Its errors have no code of the library.
      return refused((error as Error).cause instanceof DOMException ? 'unreadable keys' : 'malformed');
  }
}

function invalidData({ message, about }: LibraryError, response: AwaitedResponse): SsoRefused {
  if ('signature' in about) return refused('signature');
  if ('header' in about) return refused(algorithmDetail(about['header']));
  if ('claims' in about) return refused(missing(/"([a-z_]+)"/.exec(message)?.[1]));
  if ('parameters' in about)
    return refused(message.includes('missing') ? 'response without iss' : 'response of another issuer');
  if (message.includes('authorization code')) return refused('no code');
  if (message.includes('only once')) return refused('repeated parameter');
  if (message.includes('"keys"')) return refused('unreadable keys');
  if (message.includes('"id_token"') && !(about['body'] as { id_token?: unknown }).id_token)
    return refused('no id token');
  if (!('body' in about)) return refused('malformed');
  return response === 'keys' ? refused('unreadable keys') : new SsoRefused(reasonFor(response), response);
}

function unsupported({ message, about }: LibraryError): string {
  if (message.startsWith('JWE')) return 'encrypted';
  if (message.includes('"crit"')) return 'crit';
  if ('body' in about) return 'token_type';
  return 'alg' in about ? algorithmDetail(about) : 'unreadable keys';
}

/** `none` is an attack or a client that was set up without signatures; other algorithms are a choice at the provider. */
const algorithmDetail = (header: unknown): string =>
  (header as { alg?: unknown }).alg === 'none' ? 'not signed' : 'alg';

const claimOf = (claim: unknown): string | undefined =>
  typeof claim === 'string' && /^[a-z_]{1,64}$/.test(claim) ? claim : undefined;

/** The details of claims that the ID token lacks, or that have another form than a time or a text. */
const MISSING: Readonly<Record<string, string>> = {
  iss: 'no iss',
  aud: 'no aud',
  sub: 'no sub',
  exp: 'no exp',
  iat: 'no iat',
  nbf: 'no nbf',
  nonce: 'no nonce',
  auth_time: 'no auth_time',
};
const missing = (claim: string | undefined): string =>
  (claim === undefined ? undefined : MISSING[claim]) ?? 'malformed';
