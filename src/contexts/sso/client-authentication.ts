import * as oidc from 'openid-client';
import type { ClientAuthentication } from './domain/fields.ts';

/** Characters that form encoding leaves alone, so that providers with and without decoding read the same. */
const PLAIN = /^[A-Za-z0-9\-._~]*$/;

/**
 * How the client proves itself at the token endpoint (RFC 6749 §2.3.1).
 *
 * Without a setting: Basic, unless the issuer supports only the form, or supports both and the credentials hold
 * characters that Basic has to encode. Several providers do not decode them.
 */
export function clientAuthenticationFor(
  supported: readonly string[] = ['client_secret_basic'],
  clientId: string,
  clientSecret: string | null,
  setting: ClientAuthentication,
): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None();
  if (setting === 'client_secret_post') return oidc.ClientSecretPost(clientSecret);
  if (setting === 'client_secret_basic') return basic(clientId, clientSecret);
  const isPlain = PLAIN.test(clientId) && PLAIN.test(clientSecret);
  const usesForm = supported.includes('client_secret_post') && !isPlain;
  return usesForm || !supported.includes('client_secret_basic')
    ? oidc.ClientSecretPost(clientSecret)
    : basic(clientId, clientSecret);
}

/** The library also encodes `-_.~`, which decodes to the same, but which some providers compare without decoding. */
const basic =
  (clientId: string, clientSecret: string): oidc.ClientAuth =>
  (_issuer, _client, _body, headers) => {
    const credentials = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };

const formEncoded = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
