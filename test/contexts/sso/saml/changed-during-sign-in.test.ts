import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { startSamlIdentityProvider, type SamlIdentityProvider } from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const CALLBACK = '/api/v1/auth/saml/callback';

describe('a SAML response that is being read while its configuration changes', () => {
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

  const signIn = async () => {
    provider.signsIn(tenant.email);
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?tenant_id=${tenant.tenantId}`);
    const { samlResponse, relayState } = await provider.visit(headers.get('location')!);
    return app.anonymous.send('POST', CALLBACK, {
      raw: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('begins no session if it was disabled', async () => {
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
});
