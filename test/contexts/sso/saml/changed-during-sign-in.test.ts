import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  newSigningPair,
  startSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const CALLBACK = '/api/v1/auth/saml/callback';

describe('a sign-in through SAML whose configuration changes', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let provider: SamlIdentityProvider;
  let config = '';
  beforeAll(async () => {
    [app, provider] = await Promise.all([startApp({ devMode: true }), startSamlIdentityProvider()]);
    tenant = await app.newTenant();
    const { entityId, ssoUrl, pair } = provider;
    const metadata = samlMetadata({ entityId, ssoUrl, pairs: [pair] });
    const { status, body } = await tenant.admin.post('/api/v1/admin/sso-configs/import', { metadata });
    expect(status).toBe(201);
    config = `/api/v1/admin/sso-configs/${body.id as string}`;
  });
  afterAll(async () => {
    await provider?.close();
    await app?.close();
  });

  const start = async (query = '') => {
    provider.signsIn(tenant.email);
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?tenant_id=${tenant.tenantId}${query}`);
    const { samlResponse, relayState } = await provider.visit(headers.get('location')!);
    return () =>
      app.anonymous.send('POST', CALLBACK, {
        raw: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
  };
  const signIn = async () => (await start())();

  it('begins no session if it was disabled while the response was read', async () => {
    const { schema } = app.services.samlResponses;
    const validate = schema.validate.bind(schema);
    const reading = vi.spyOn(schema, 'validate').mockImplementationOnce(async (...read) => {
      expect((await tenant.admin.put(config, { isEnabled: false })).status).toBe(200);
      await validate(...read);
    });
    const { status, body } = await signIn();
    expect([status, body.error]).toEqual([401, 'single sign-on failed: sso_not_configured']);
    reading.mockRestore();
    expect((await tenant.admin.put(config, { isEnabled: true })).status).toBe(200);
    expect((await signIn()).status).toBe(200);
  });

  const changes = {
    'other domains': { emailDomains: ['other.example'] },
    'an attribute for the e-mail': { emailAttribute: 'mail' },
    'another certificate': { idpCertificate: newSigningPair('other').certificatePem },
    'another entity id': { idpEntityId: 'urn:example:other' },
    'no permission any more': { isEnabled: false },
  };
  describe.each(Object.entries(changes))('that gets %s', (_what, change) => {
    let before: object;
    beforeEach(async () => {
      const { isEnabled, emailDomains, emailAttribute, idpCertificate, idpEntityId } = (await tenant.admin.get(config))
        .body;
      before = { isEnabled, emailDomains, emailAttribute, idpCertificate, idpEntityId };
    });
    afterEach(async () => expect((await tenant.admin.put(config, before)).status).toBe(200));
    const changed = async () => expect((await tenant.admin.put(config, change)).status).toBe(200);

    it('before the callback refuses the sign-in', async () => {
      const callback = await start();
      await changed();
      const { status, body } = await callback();
      expect([status, body.error]).toEqual([401, 'single sign-on failed: sso_not_configured']);
      await app.settled();
      const { auditLogs } = (await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
      expect(auditLogs[0].details).toMatchObject({ detail: 'changed during the sign-in' });
    });

    it('before the exchange refuses it, too', async () => {
      const verifier = randomBytes(32).toString('base64url');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const { headers } = await (await start(`&return_to=login&challenge=${challenge}`))();
      const code = new URL(headers.get('location')!, 'https://here.example').searchParams.get('sso_code');
      expect(code).not.toBeNull();
      await changed();
      expect((await app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier })).status).toBe(401);
    });
  });

  it('goes on if it gets another name, or another address for sign-ins', async () => {
    const callback = await start();
    const { idpSsoUrl } = (await tenant.admin.get(config)).body;
    expect((await tenant.admin.put(config, { name: 'Other', idpSsoUrl: 'https://idp.example/new' })).status).toBe(200);
    expect((await callback()).status).toBe(200);
    expect((await tenant.admin.put(config, { idpSsoUrl })).status).toBe(200);
  });
});
