import { createHash, randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { startSamlIdentityProvider, type SamlIdentityProvider } from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const HOME = 'https://castellan.example';
const CALLBACK = '/api/v1/auth/saml/callback';
/** How far the provider's clock may be behind. */
const SKEW_MS = 60_000;

/** SAML Profiles §4.1.4.3: the security context should be discarded at that time. */
describe('the end of the session at a SAML provider', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let provider: SamlIdentityProvider;
  beforeAll(async () => {
    [app, provider] = await Promise.all([startApp({ devMode: true }), startSamlIdentityProvider()]);
    tenant = await app.newTenant();
    const { entityId, ssoUrl, pair } = provider;
    const metadata = samlMetadata({ entityId, ssoUrl, pairs: [pair] });
    expect((await tenant.admin.post('/api/v1/admin/sso-configs/import', { metadata })).status).toBe(201);
  });
  afterAll(async () => {
    await provider?.close();
    await app?.close();
  });

  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  /** A callback whose assertion says these ends, one for each statement. */
  const callback = async (ends: readonly number[], query: Record<string, string> = {}) => {
    const { headers } = await app.anonymous.get(
      `/api/v1/auth/saml/login?${new URLSearchParams({ tenant_id: tenant.tenantId, ...query }).toString()}`,
    );
    const { searchParams } = new URL(headers.get('location')!);
    const request = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest')!, 'base64')).toString();
    const xml = await provider.respond({
      email: tenant.email,
      acsUrl: HOME + CALLBACK,
      audience: `${HOME}/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`,
      inResponseTo: / ID="([^"]+)"/.exec(request)![1]!,
      edit: (assertion) =>
        assertion.replace(/<saml:AuthnStatement [^]*<\/saml:AuthnStatement>/, (statement) =>
          ends
            .map((end) =>
              statement.replace(' ', ` SessionNotOnOrAfter="${new Date(end).toISOString()}" SessionIndex="_${end}" `),
            )
            .join(''),
        ),
    });
    return app.anonymous.send('POST', CALLBACK, {
      raw: new URLSearchParams({
        SAMLResponse: Buffer.from(xml).toString('base64'),
        RelayState: searchParams.get('RelayState')!,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };
  const refresh = (refreshToken: string) => app.anonymous.post('/api/v1/auth/refresh', { refreshToken });
  const sooner = (end: number) => new Date(Math.floor((end + SKEW_MS) / 1000) * 1000).toISOString();

  it('is the end of access and refresh tokens, the first one of several', async () => {
    const end = Date.now() + 100_000;
    const { status, body } = await callback([end + 500_000, end]);
    expect([status, body.expiresAt]).toEqual([200, sooner(end)]);
    const { status: again, body: next } = await refresh(body.refreshToken);
    expect([again, next.expiresAt]).toEqual([200, sooner(end)]);
    await app.settled();
    const { body: own } = await app.as(next.accessToken).get('/api/v1/admin/me/sessions');
    const ends = (own.sessions as { expiresAt: string }[]).map(({ expiresAt }) => expiresAt);
    expect(ends).toContain(new Date(end + SKEW_MS).toISOString());
    await app.services.database.owner.query(
      `update refresh_tokens set expires_at = expires_at - interval '200 seconds' where tenant_id = $1`,
      [tenant.tenantId],
    );
    expect((await refresh(next.refreshToken)).status).toBe(401);
  });

  it('holds for a session that begins with a code, and a code does not outlive it', async () => {
    const page = { return_to: 'login', challenge };
    const codeOf = async (end: number) => {
      const { headers } = await callback([end], page);
      return new URL(headers.get('location')!, HOME).searchParams.get('sso_code');
    };
    const exchange = (code: string | null) => app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier });
    const end = Date.now() + 100_000;
    const { status, body } = await exchange(await codeOf(end));
    expect([status, body.expiresAt]).toEqual([200, sooner(end)]);
    const late = await codeOf(end);
    await app.services.database.owner.query(
      `update one_time_tokens set payload = jsonb_set(payload, '{until}', to_jsonb($2::bigint))
        where tenant_id = $1 and purpose = 'sso-handoff'`,
      [tenant.tenantId, Date.now()],
    );
    expect((await exchange(late)).status).toBe(401);
  });

  it('later than the session lives changes nothing', async () => {
    const before = Date.now();
    const { body } = await callback([before + 400 * 86_400_000]);
    expect(Date.parse(body.expiresAt) - before).toBeGreaterThan(14 * 60_000);
    const { body: next } = await refresh(body.refreshToken);
    await app.settled();
    const { body: own } = await app.as(next.accessToken).get('/api/v1/admin/me/sessions');
    const ends = (own.sessions as { expiresAt: string }[]).map(({ expiresAt }) => Date.parse(expiresAt));
    expect(Math.max(...ends)).toBeLessThan(Date.now() + 31 * 86_400_000);
  });
});
