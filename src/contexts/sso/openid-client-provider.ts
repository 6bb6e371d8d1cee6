import { decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { emailField } from '../identity/domain/password-rule.ts';
import { REAUTHENTICATION_SECONDS } from '../identity/reauthentication.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import type { AuthorizationRequest, OpenIdClient, OpenIdIdentity, OpenIdProvider } from './openid-provider.ts';
import { exchangeRefusal, issuerRefusal } from './openid-refusals.ts';

/** Signatures that need the issuer's private key. Neither `none` nor an HMAC, whose key might be one that is public. */
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
/** How far the issuer's clock may be off. */
const SKEW_SECONDS = 60;
const TIMEOUT_SECONDS = 10;

export interface OidcHttpOptions {
  readonly fetch: GuardedFetch;
  /** Development: an issuer on this machine speaks plain HTTP. */
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
        // Where the ID token says nothing of an e-mail, the issuer is asked; what it says is bound to the same subject.
        const said =
          claims['email'] === undefined && config.serverMetadata().userinfo_endpoint
            ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)
            : claims;
        return identityOf(claims.sub, said);
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
    // The flow of most clients trusts TLS and leaves signatures unread; here they are verified, always.
    execute: [oidc.enableNonRepudiationChecks, ...(reach.allowHttp ? [oidc.allowInsecureRequests] : [])],
  };
  // Which way of showing the secret the issuer takes is known only after its document was read.
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
  // Exactly, as Discovery 1.0 §4.3 has it: some issuers' common addresses stand for every customer that they have.
  if (withoutSlash(issuer) !== withoutSlash(issuerUrl)) throw new SsoRefused('idp_error', 'another issuer');
  if (!authorize || !isWebAddress(authorize, reach)) throw new SsoRefused('idp_error', 'no authorization endpoint');
  if (methods && !methods.includes('S256')) throw new SsoRefused('idp_error', 'no S256');
  return config;
}

/** RFC 6749 §2.3.1 and Discovery 1.0 §3: Basic unless the issuer takes only the form. */
function authentication(config: oidc.Configuration, clientSecret: string | null): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None();
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = config.serverMetadata();
  return methods.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(clientSecret)
    : oidc.ClientSecretPost(clientSecret);
}

/** The library's fetch, over ours: nothing of an issuer is reached that the guard does not let through, and no redirect is followed. */
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
    // An issuer may pass over `prompt`; `auth_time`, which it then has to say (Core §3.1.2.1), gives it away.
    ...(reauthenticates ? { maxAge: REAUTHENTICATION_SECONDS } : {}),
  });
  const { alg } = decodeProtectedHeader(tokens.id_token ?? '');
  if (!alg || !SIGNATURE_ALGORITHMS.has(alg)) throw new SsoRefused('invalid_assertion', 'algorithm');
  return tokens;
}

function identityOf(subject: string, said: Readonly<Record<string, unknown>>): OpenIdIdentity {
  const email = emailField.safeParse(said['email']);
  if (!email.success) throw new SsoRefused('email_not_verified', 'no e-mail');
  if (said['email_verified'] !== true) throw new SsoRefused('email_not_verified');
  return { subject, email: email.data };
}

const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

function isWebAddress(address: string, { allowHttp }: OidcHttpOptions): boolean {
  const protocol = URL.canParse(address) ? new URL(address).protocol : '';
  return protocol === 'https:' || (allowHttp && protocol === 'http:');
}
