import { decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { emailField } from '../identity/domain/password-rule.ts';
import { REAUTHENTICATION_SECONDS } from '../identity/reauthentication.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import type { AuthorizationRequest, OpenIdClient, OpenIdIdentity, OpenIdProvider } from './openid-provider.ts';
import { exchangeRefusal, issuerRefusal } from './openid-refusals.ts';

/** Signatures made with the issuer's private key. Neither `none` nor an HMAC, whose key could be a public value. */
const SIGNATURE_ALGORITHMS = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);
/** Maximum clock difference to the issuer. */
const SKEW_SECONDS = 60;
const TIMEOUT_SECONDS = 10;

export interface OidcHttpOptions {
  readonly fetch: GuardedFetch;
  /** For development: a local issuer may use plain HTTP. */
  readonly allowHttp: boolean;
}

export function openIdProvider(client: OpenIdClient, reach: OidcHttpOptions): OpenIdProvider {
  return {
    async authorizationUrl({ redirectUri, state, nonce, codeVerifier, reauthenticates }) {
      const config = await discovered(client, reach);
      const parameters = {
        redirect_uri: redirectUri,
        scope: client.scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(reauthenticates ? { prompt: 'login', max_age: '0' } : {}),
      };
      return oidc.buildAuthorizationUrl(config, parameters);
    },
    async redeem(query, request) {
      const config = await discovered(client, reach);
      try {
        const tokens = await exchanged(config, query, request);
        const claims = tokens.claims();
        if (!claims) throw new SsoRefused('invalid_assertion', 'no id token');
        // If the ID token contains no e-mail, the issuer's userinfo endpoint is queried; its response is bound to the
        // same subject.
        const userClaims =
          claims['email'] === undefined && config.serverMetadata().userinfo_endpoint
            ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)
            : claims;
        return identityOf(claims.sub, userClaims);
      } catch (error) {
        throw exchangeRefusal(error);
      }
    },
    async endSessionUrl() {
      const config = await discovered(client, reach);
      const { end_session_endpoint: endpoint } = config.serverMetadata();
      return endpoint && isWebAddress(endpoint, reach) ? oidc.buildEndSessionUrl(config) : null;
    },
  };
}

async function discovered(
  { issuerUrl, clientId, clientSecret }: OpenIdClient,
  reach: OidcHttpOptions,
): Promise<oidc.Configuration> {
  const metadata = { [oidc.clockTolerance]: SKEW_SECONDS };
  const options = {
    [oidc.customFetch]: guarded(reach.fetch),
    timeout: TIMEOUT_SECONDS,
    // In the code flow, most clients trust TLS and do not verify signatures; here they are always verified.
    execute: [oidc.enableNonRepudiationChecks, ...(reach.allowHttp ? [oidc.allowInsecureRequests] : [])],
  };
  // The client authentication method is known only after the discovery document was read.
  const config = await oidc
    .discovery(
      new URL(issuerUrl),
      clientId,
      metadata,
      (...called) => authentication(config, clientSecret)(...called),
      options,
    )
    .catch((error: unknown) => {
      throw issuerRefusal(error);
    });
  const {
    issuer,
    authorization_endpoint: authorize,
    code_challenge_methods_supported: methods,
  } = config.serverMetadata();
  // An exact match, as Discovery 1.0 §4.3 requires: the common addresses of some issuers stand for all of their
  // customers.
  if (withoutSlash(issuer) !== withoutSlash(issuerUrl)) throw new SsoRefused('idp_error', 'another issuer');
  if (!authorize || !isWebAddress(authorize, reach)) throw new SsoRefused('idp_error', 'no authorization endpoint');
  if (methods && !methods.includes('S256')) throw new SsoRefused('idp_error', 'no S256');
  return config;
}

/** RFC 6749 §2.3.1 and Discovery 1.0 §3: Basic, unless the issuer supports only the form. */
function authentication(config: oidc.Configuration, clientSecret: string | null): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None();
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = config.serverMetadata();
  return methods.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(clientSecret)
    : oidc.ClientSecretPost(clientSecret);
}

/**
 * Makes the library use the guarded fetch: addresses that the guard blocks are not reached, and redirects are not
 * followed.
 */
const guarded =
  (fetch: GuardedFetch): oidc.CustomFetch =>
  (address, { method, headers, body, signal }) =>
    fetch(address, {
      method: method as 'GET' | 'POST',
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    });

async function exchanged(
  config: oidc.Configuration,
  query: URLSearchParams,
  { redirectUri, state, nonce, codeVerifier, reauthenticates }: AuthorizationRequest,
) {
  const address = new URL(redirectUri);
  address.search = query.toString();
  const tokens = await oidc.authorizationCodeGrant(config, address, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
    // An issuer may ignore `prompt`, but then `auth_time`, which it has to return (Core §3.1.2.1), shows that.
    ...(reauthenticates ? { maxAge: REAUTHENTICATION_SECONDS } : {}),
  });
  const { alg } = decodeProtectedHeader(tokens.id_token ?? '');
  if (!alg || !SIGNATURE_ALGORITHMS.has(alg)) throw new SsoRefused('invalid_assertion', 'algorithm');
  return tokens;
}

function identityOf(subject: string, userClaims: Readonly<Record<string, unknown>>): OpenIdIdentity {
  const email = emailField.safeParse(userClaims['email']);
  if (!email.success) throw new SsoRefused('email_not_verified', 'no e-mail');
  if (userClaims['email_verified'] !== true) throw new SsoRefused('email_not_verified');
  return { subject, email: email.data };
}

const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

function isWebAddress(address: string, { allowHttp }: OidcHttpOptions): boolean {
  const protocol = URL.canParse(address) ? new URL(address).protocol : '';
  return protocol === 'https:' || (allowHttp && protocol === 'http:');
}
