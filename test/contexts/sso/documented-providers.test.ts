import { describe, expect, it } from 'vitest';
import { DEFAULT_ISSUER_TRUST, type IssuerTrust } from '../../../src/contexts/sso/domain/fields.ts';
import { openIdProvider } from '../../../src/contexts/sso/openid-client-provider.ts';
import { probeIssuer } from '../../../src/contexts/sso/probe-issuer.ts';
import { guardedFetch } from '../../../src/platform/outbound/guarded-fetch.ts';
import { runDocumentedProvider, type RunningProvider } from '../../dsl/documented-provider.ts';
import { DOCUMENTED, type DocumentedProvider } from '../../dsl/documented-providers.ts';

const redirectUri = 'https://castellan.example/api/v1/auth/sso/callback';
const postLogoutRedirectUri = 'https://castellan.example/login';
const request = { redirectUri, state: 's'.repeat(43), nonce: 'n'.repeat(43), codeVerifier: 'v'.repeat(43) };
const EMAIL = 'ann@acme.example';
const fetch = guardedFetch({ allowPrivate: true });

describe.each(Object.entries(DOCUMENTED))('%s', (_name, profile) => {
  const met = async (visit: (peer: RunningProvider) => Promise<void>) => {
    const peer = await runDocumentedProvider(profile, { redirectUri, postLogoutRedirectUri });
    try {
      await visit(peer);
    } finally {
      await peer.close();
    }
  };
  const clientOf = ({ issuer: issuerUrl, clientId }: RunningProvider, over: Partial<Client> = {}) =>
    openIdProvider(
      {
        ...DEFAULT_ISSUER_TRUST,
        ...profile.settings,
        issuerUrl,
        clientId,
        clientSecret: profile.clientSecret,
        scopes: 'openid email profile',
        ...over,
      },
      { fetch, allowHttp: true },
    );
  const signIn = async (peer: RunningProvider, over?: Partial<Client>) => {
    peer.signsIn(EMAIL);
    const client = clientOf(peer, over);
    const { searchParams } = await peer.authorize(await client.authorizationUrl(request));
    return client.redeem(searchParams, request);
  };

  it('passes the connection test, and signs a person in with the settings of the guide', () =>
    met(async (peer) => {
      const toggled = peer.issuer.endsWith('/') ? peer.issuer.slice(0, -1) : `${peer.issuer}/`;
      for (const issuerUrl of [peer.issuer, toggled]) {
        expect(
          await probeIssuer(issuerUrl, { fetch, allowsHttp: true, unreachable: async () => undefined }),
        ).toMatchObject({ success: true, issuer: peer.issuer });
        expect(await signIn(peer, { issuerUrl })).toMatchObject({ subject: 'subject-1', email: EMAIL });
      }
    }));

  it('is refused without the settings of the guide, and says why', () =>
    met(async (peer) => {
      const defaults = signIn(peer, DEFAULT_ISSUER_TRUST);
      if (profile.settings)
        await expect(defaults).rejects.toMatchObject({ reason: 'email_not_verified', detail: 'nothing said' });
      else expect((await defaults).email).toBe(EMAIL);
    }));

  it('refuses a wrong client secret in words that name it', () =>
    met(async (peer) => {
      await expect(signIn(peer, { clientSecret: 'wrong' })).rejects.toMatchObject({
        reason: 'token_exchange_failed',
        detail: profile.wrongSecret.challenge
          ? 'invalid_client'
          : (profile.wrongSecret.body as { error: string }).error,
      });
    }));

  it('accepts the logout of its own token, and only if it has one', () =>
    met(async (peer) => {
      const { idToken } = await signIn(peer);
      const logout = (idTokenHint?: string) =>
        clientOf(peer).endSessionUrl({ returnTo: postLogoutRedirectUri, idTokenHint, state: 'tenant' });
      const address = await logout(idToken);
      if (!profile.logout) return expect(address).toBeNull();
      expect((await peer.logOut(address!)).href).toBe(`${postLogoutRedirectUri}?state=tenant`);
      // The browser may hold the token of another sign-in.
      const foreign = (await logout(idToken.replace(/^[^.]+\.[^.]+/, (text) => text.slice(0, -8))))!;
      expect(foreign.searchParams.get('id_token_hint')).toBeNull();
    }));
});

/** The rows of the tables "What is refused" in the guides, by the names of the audit log. */
describe('a provider that speaks for another', () => {
  const entra = DOCUMENTED['Entra ID as registered']!;
  const ago = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;
  const refusalBy = async (over: Partial<DocumentedProvider>) => {
    const profile = { ...entra, ...over };
    const peer = await runDocumentedProvider(profile, { redirectUri, postLogoutRedirectUri });
    try {
      const { issuer: issuerUrl, clientId } = peer;
      const trust = { ...DEFAULT_ISSUER_TRUST, emailsVerified: true };
      const client = openIdProvider(
        { ...trust, issuerUrl, clientId, clientSecret: profile.clientSecret, scopes: 'openid' },
        { fetch, allowHttp: true },
      );
      peer.signsIn(EMAIL);
      const { searchParams } = await peer.authorize(await client.authorizationUrl(request));
      return await client.redeem(searchParams, request).then(() => undefined);
    } catch (error) {
      return error;
    } finally {
      await peer.close();
    }
  };
  const claiming = (claims: object) => ({
    idToken: (email: string, id: string) => ({ ...entra.idToken(email, id), ...claims }),
  });
  const v1 = 'https://sts.windows.net/7a2c0b6e-0000-4000-8000-000000000000/';

  it.each<[string, Partial<DocumentedProvider>, { reason: string; detail: string }]>([
    ['in its discovery document', { discovery: { issuer: v1 } }, { reason: 'idp_error', detail: 'another issuer' }],
    ['in its token', claiming({ iss: v1 }), { reason: 'invalid_assertion', detail: 'iss' }],
    ['as audience', claiming({ aud: 'another client' }), { reason: 'invalid_assertion', detail: 'aud' }],
    ['at another time', claiming({ iat: ago(4_200), exp: ago(600) }), { reason: 'invalid_assertion', detail: 'exp' }],
    ['by another nonce', claiming({ nonce: 'x'.repeat(43) }), { reason: 'invalid_assertion', detail: 'nonce' }],
  ])('%s is refused with a detail that the guides explain', async (_where, over, refusal) => {
    expect(await refusalBy({})).toBeUndefined();
    expect(await refusalBy(over)).toMatchObject(refusal);
  });
});

type Client = IssuerTrust & { readonly issuerUrl: string; readonly clientSecret: string };

describe('the authentication of the client', () => {
  const keycloak = DOCUMENTED['Keycloak']!;
  const sent = async (profile: DocumentedProvider, trust: Partial<IssuerTrust> = {}) => {
    const peer = await runDocumentedProvider(profile, { redirectUri, postLogoutRedirectUri });
    let basic = false;
    const client = openIdProvider(
      {
        ...DEFAULT_ISSUER_TRUST,
        ...trust,
        issuerUrl: peer.issuer,
        clientId: peer.clientId,
        clientSecret: profile.clientSecret,
        scopes: 'openid',
      },
      {
        allowHttp: true,
        fetch: (address, asked) => {
          basic ||= Object.entries(asked?.headers ?? {}).some(([name]) => name.toLowerCase() === 'authorization');
          return fetch(address, asked);
        },
      },
    );
    peer.signsIn(EMAIL);
    const { searchParams } = await peer.authorize(await client.authorizationUrl(request));
    await client.redeem(searchParams, request);
    await peer.close();
    return basic ? 'Basic' : 'form';
  };

  it('is Basic where the provider supports both, unless Basic would have to encode the secret', async () => {
    expect(await sent(keycloak)).toBe('Basic');
    expect(await sent({ ...keycloak, clientSecret: 'with+slash/and=' })).toBe('form');
    expect(await sent({ ...keycloak, clientSecret: 'with+slash', authentication: ['client_secret_basic'] })).toBe(
      'Basic',
    );
  });

  it('is what the configuration says, if it says so', async () => {
    expect(await sent(keycloak, { clientAuthentication: 'client_secret_post' })).toBe('form');
    expect(await sent(keycloak, { clientAuthentication: 'client_secret_basic' })).toBe('Basic');
  });
});

describe('an e-mail', () => {
  const entra = DOCUMENTED['Entra ID as registered']!;
  const outcome = async (profile: DocumentedProvider, emailsVerified: boolean) => {
    const peer = await runDocumentedProvider(profile, { redirectUri, postLogoutRedirectUri });
    peer.signsIn(EMAIL);
    const { issuer: issuerUrl, clientId } = peer;
    const { clientSecret } = profile;
    const client = openIdProvider(
      { ...DEFAULT_ISSUER_TRUST, emailsVerified, issuerUrl, clientId, clientSecret, scopes: 'openid' },
      { fetch, allowHttp: true },
    );
    const { searchParams } = await peer.authorize(await client.authorizationUrl(request));
    const found = await client.redeem(searchParams, request).catch((error: Error) => error);
    await peer.close();
    return found;
  };

  it.each([
    ['email_verified: false', { email: EMAIL, email_verified: false }],
    ['email_verified: false, as text', { email: EMAIL, email_verified: 'false' }],
    ['xms_edov: false', { email: EMAIL, xms_edov: false }],
    ['xms_edov: 0, as text', { email: EMAIL, xms_edov: '0' }],
    ['email_verified: false beside xms_edov: true', { email: EMAIL, email_verified: false, xms_edov: true }],
  ])('that the provider calls unverified stays refused, whatever the setting: %s', async (_what, claims) => {
    for (const emailsVerified of [true, false])
      expect(await outcome({ ...entra, idToken: () => claims }, emailsVerified)).toMatchObject({
        reason: 'email_not_verified',
        detail: 'called unverified',
      });
  });

  it('without a statement in the ID token is taken from the userinfo endpoint, if that verifies one', async () => {
    const asked = { ...entra, userinfo: () => ({ email: EMAIL.toUpperCase(), email_verified: true }) };
    expect(await outcome(asked, false)).toMatchObject({ email: EMAIL });
    const other = 'verified@acme.example';
    const another = { ...entra, userinfo: () => ({ email: other, email_verified: true }) };
    expect(await outcome(another, false)).toMatchObject({ reason: 'email_not_verified', detail: 'two e-mails' });
    const denied = { ...entra, userinfo: () => ({ email: EMAIL, email_verified: false }) };
    expect(await outcome(denied, false)).toMatchObject({ reason: 'email_not_verified' });
    const elsewhere = { ...entra, userinfo: () => ({ sub: 'somebody-else', email: other, email_verified: true }) };
    expect(await outcome(elsewhere, false)).toMatchObject({ reason: 'invalid_assertion', detail: 'two subjects' });
  });
});
