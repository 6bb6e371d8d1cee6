import { decodeJwt, decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import * as oidc from 'openid-client';
import { REAUTHENTICATION_SECONDS } from '../identity/reauthentication.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { clientAuthenticationFor } from './client-authentication.ts';
import { identityOf, isIncomplete, namesEmail, withStatement, type PersonClaims } from './openid-identity.ts';
import { classified, guarded, observed } from './openid-calls.ts';
import type { AuthorizationRequest, OpenIdClient, OpenIdProvider } from './openid-provider.ts';
import { LogoutRefused, readLogoutToken } from './logout-token.ts';
import {
  exchangeRefusal,
  issuerRefusal,
  namesOtherIssuer,
  sameIssuer,
  statusDetail,
  responseStatus,
  withoutSlash,
} from './openid-refusals.ts';
import { AHEAD_SECONDS, isSignedByOneOf, SIGNATURE_ALGORITHMS, SKEW_SECONDS } from './openid-signatures.ts';
import { parsedUrl } from '../../platform/kernel/parsed-url.ts';

const TIMEOUT_SECONDS = 10;

export interface OidcHttpOptions {
  readonly fetch: GuardedFetch;
  /** For development: a local issuer may use plain HTTP. */
  readonly allowHttp: boolean;
}

export function openIdProvider(client: OpenIdClient, reach: OidcHttpOptions): OpenIdProvider {
  return {
    async authorizationUrl({ redirectUri, state, nonce, codeVerifier, reauthenticates, loginHint }) {
      const config = await discovered(client, reach);
      const parameters = {
        redirect_uri: redirectUri,
        scope: client.scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(reauthenticates ? { prompt: 'login', max_age: '0' } : {}),
        ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      };
      return oidc.buildAuthorizationUrl(config, parameters);
    },
    async redeem(query, request) {
      const calls = observed(reach.fetch);
      const config = await discovered(client, { ...reach, fetch: calls.fetch });
      // The library reads an empty one as none.
      if (query.getAll('iss').includes('')) throw new SsoRefused('invalid_assertion', 'response of another issuer');
      try {
        const tokens = await exchanged(config, query, request);
        const claims = tokens.claims();
        if (!claims) throw new SsoRefused('invalid_assertion', 'no id token');
        // The library has one tolerance for both directions.
        if (claims.exp < Date.now() / 1_000 - SKEW_SECONDS) throw new SsoRefused('invalid_assertion', 'exp');
        if (claims.iat > Date.now() / 1_000 + AHEAD_SECONDS) throw new SsoRefused('invalid_assertion', 'iat');
        if (request.reauthenticates) checkAuthentication(claims);
        if (claims.sub === '') throw new SsoRefused('invalid_assertion', 'sub');
        // The library checks this only where the token has several audiences.
        if (claims['azp'] !== undefined && claims['azp'] !== client.clientId)
          throw new SsoRefused('invalid_assertion', 'azp');
        const userClaims = await completedClaims(config, claims, tokens.access_token);
        return {
          ...identityOf(claims.sub, userClaims, client.emailsVerified),
          providerSessionId: typeof claims['sid'] === 'string' ? claims['sid'] : undefined,
          idToken: tokens.id_token!,
          issuedAt: claims.iat,
        };
      } catch (error) {
        const { jwks_uri: keys } = config.serverMetadata();
        throw exchangeRefusal(error, calls.lastAddress() === parsedUrl(keys!)?.href ? 'keys' : 'token response');
      }
    },
    async endSessionUrl({ returnTo, idTokenHint, state }) {
      const config = await discovered(client, reach);
      const { end_session_endpoint: endpoint } = config.serverMetadata();
      if (!endpoint || !isWebAddress(endpoint, reach) || hasCredentials(endpoint)) return null;
      return oidc.buildEndSessionUrl(config, {
        post_logout_redirect_uri: returnTo,
        state,
        ...(isOwnToken(idTokenHint, config.serverMetadata().issuer, client) ? { id_token_hint: idTokenHint! } : {}),
      });
    },
    async loggedOut(token) {
      const loggedOut = readLogoutToken(token, { ...client, now: Date.now() });
      const { jwks_uri: address } = (await discovered(client, reach)).serverMetadata();
      if (!(await isSignedByOneOf(await keysAt(address!, reach), token))) throw new LogoutRefused('signature');
      return loggedOut;
    },
  };
}

/** The issuer's signature keys, read now: a key that it has withdrawn does not count. */
async function keysAt(address: string, { fetch }: OidcHttpOptions): Promise<JSONWebKeySet> {
  try {
    const response = await classified(fetch)(address, { headers: { accept: 'application/json' } });
    if (response.status !== 200) throw new SsoRefused('idp_error', statusDetail(response.status));
    const keys = (await response.json().catch(() => ({}))) as JSONWebKeySet;
    if (!Array.isArray(keys.keys)) throw new SsoRefused('idp_error', 'unreadable keys');
    return keys;
  } catch (error) {
    throw issuerRefusal(error);
  }
}

/** How a userinfo endpoint says that this client is told nothing: to this token, or at all. */
const SAYS_NOTHING: ReadonlySet<number | undefined> = new Set([401, 403, 404]);

/**
 * The claims that name the person: those of the ID token, or those of the userinfo endpoint if it knows more. The
 * library binds the latter to the same subject. An endpoint that refuses leaves the ID token's claims. Everything else that is no
 * statement fails the sign-in: the endpoint may call the e-mail unverified.
 */
async function completedClaims(
  config: oidc.Configuration,
  claims: PersonClaims & { readonly sub: string },
  accessToken: string,
): Promise<PersonClaims> {
  if (!isIncomplete(claims) || !config.serverMetadata().userinfo_endpoint) return claims;
  const known = await oidc.fetchUserInfo(config, accessToken, claims.sub).catch((error: unknown) => {
    if (!SAYS_NOTHING.has(responseStatus(error))) throw exchangeRefusal(error, 'userinfo response');
    if (!namesEmail(claims)) throw new SsoRefused('email_not_verified', 'userinfo refused');
    return undefined;
  });
  return known ? withStatement(claims, known) : claims;
}

/** The browser may hold the token of another sign-in. The issuer verifies the token; this only reads it. */
function isOwnToken(token: string | undefined, issuer: string, { clientId }: OpenIdClient): boolean {
  try {
    const { iss, aud } = decodeJwt(token ?? '');
    return iss === issuer && [aud].flat().includes(clientId);
  } catch {
    return false;
  }
}

async function discovered(
  { issuerUrl, clientId, clientSecret, clientAuthentication }: OpenIdClient,
  reach: OidcHttpOptions,
): Promise<oidc.Configuration> {
  const metadata = { [oidc.clockTolerance]: AHEAD_SECONDS };
  const options = {
    [oidc.customFetch]: guarded(reach.fetch),
    timeout: TIMEOUT_SECONDS,
    // In the code flow, most clients trust TLS and do not verify signatures; here they are always verified.
    execute: [oidc.enableNonRepudiationChecks, ...(reach.allowHttp ? [oidc.allowInsecureRequests] : [])],
  };
  const discover = (issuer: string) =>
    oidc.discovery(
      new URL(issuer),
      clientId,
      metadata,
      // Known only after the discovery document was read.
      (...called) =>
        clientAuthenticationFor(
          config.serverMetadata().token_endpoint_auth_methods_supported,
          clientId,
          clientSecret,
          clientAuthentication,
        )(...called),
      options,
    );
  const config = await discover(issuerUrl)
    .catch((error: unknown) => {
      if (!namesOtherIssuer(error)) throw error;
      return discover(issuerUrl.endsWith('/') ? withoutSlash(issuerUrl) : `${issuerUrl}/`);
    })
    .catch((error: unknown) => {
      throw issuerRefusal(error);
    });
  const {
    issuer,
    authorization_endpoint: authorize,
    token_endpoint: tokens,
    jwks_uri: keys,
    code_challenge_methods_supported: methods,
  } = config.serverMetadata();
  if (!sameIssuer(issuer, issuerUrl)) throw new SsoRefused('idp_error', 'another issuer');
  if (authorize && hasCredentials(authorize))
    throw new SsoRefused('idp_error', 'the address must not contain credentials');
  if (!authorize || !isWebAddress(authorize, reach)) throw new SsoRefused('idp_error', 'no authorization endpoint');
  if (!tokens || !isWebAddress(tokens, reach)) throw new SsoRefused('idp_error', 'no token endpoint');
  if (!keys || !isWebAddress(keys, reach)) throw new SsoRefused('idp_error', 'no keys');
  if (methods && !methods.includes('S256')) throw new SsoRefused('idp_error', 'no S256');
  return config;
}

async function exchanged(
  config: oidc.Configuration,
  query: URLSearchParams,
  { redirectUri, state, nonce, codeVerifier }: AuthorizationRequest,
) {
  const address = new URL(redirectUri);
  address.search = query.toString();
  const tokens = await oidc.authorizationCodeGrant(config, address, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const { alg, typ } = decodeProtectedHeader(tokens.id_token ?? '');
  // Of tokens for another purpose, such as `at+jwt` and `logout+jwt` (RFC 8725 §3.11).
  if (/\+jwt$/i.test(typ ?? '')) throw new SsoRefused('invalid_assertion', 'typ');
  if (!alg || !SIGNATURE_ALGORITHMS.has(alg)) throw new SsoRefused('invalid_assertion', 'alg');
  return tokens;
}

/**
 * An issuer may ignore `prompt`, but then `auth_time`, which it has to return (Core §3.1.2.1), shows that. The library would add its
 * tolerance to the age. A time that is to come would pass for a recent one, and an old one for a recent one if the issuer's clock
 * is ahead: then the token itself says how old it is.
 */
function checkAuthentication({ auth_time: authenticatedAt, iat }: oidc.IDToken): void {
  if (authenticatedAt === undefined) throw new SsoRefused('invalid_assertion', 'no auth_time');
  const now = Math.floor(Date.now() / 1_000);
  const age = Math.max(now, iat) - authenticatedAt;
  if (age > REAUTHENTICATION_SECONDS || authenticatedAt - now > AHEAD_SECONDS)
    throw new SsoRefused('invalid_assertion', 'auth_time');
}

/** A browser would send them, or warn. */
function hasCredentials(address: string): boolean {
  const { username = '', password = '' } = parsedUrl(address) ?? {};
  return username !== '' || password !== '';
}

function isWebAddress(address: string, { allowHttp }: OidcHttpOptions): boolean {
  const protocol = parsedUrl(address)?.protocol;
  return protocol === 'https:' || (allowHttp && protocol === 'http:');
}
