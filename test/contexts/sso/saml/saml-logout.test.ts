import { randomBytes, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectAddress, signedRedirectMessage } from '../../../../src/contexts/sso/saml/redirect-binding.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { lostOnce } from '../../../dsl/lose-response-once.ts';
import { navigate } from '../../../dsl/navigating.ts';
import { bareCertificate, signElement } from '../../../dsl/saml-documents.ts';
import {
  newSigningPair,
  startSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const CALLBACK = '/api/v1/auth/saml/callback';
const SLO = 'https://idp.example/slo?realm=a';

describe("a SAML provider's metadata and logout", () => {
  let app: TestApp;
  let tenant: TestTenant;
  let provider: SamlIdentityProvider;
  let described: Server;
  let configId: string;
  let metadata = '';
  beforeAll(async () => {
    [app, provider] = await Promise.all([startApp({ devMode: true }), startSamlIdentityProvider()]);
    tenant = await app.newTenant();
    metadata = samlMetadata({
      entityId: provider.entityId,
      ssoUrl: provider.ssoUrl,
      sloUrl: SLO,
      pairs: [newSigningPair('next year'), provider.pair],
    });
    described = createServer((request, response) =>
      request.url === '/metadata' ? response.end(metadata) : response.writeHead(404).end(),
    );
    await new Promise<void>((resolve) => described.listen(0, '127.0.0.1', resolve));
    const { status, body } = await tenant.admin.post('/api/v1/admin/sso-configs/import', {
      metadataUrl: `${describedAt()}/metadata`,
      name: 'Company',
    });
    expect(status).toBe(201);
    configId = body.id as string;
  });
  afterAll(async () => {
    described.close();
    await provider.close();
    await app.close();
  });
  const describedAt = () => `http://127.0.0.1:${(described.address() as AddressInfo).port}`;
  const ourSlo = () => `https://castellan.example/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}`;

  async function signIn() {
    provider.signsIn(tenant.email);
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?tenant_id=${tenant.tenantId}`);
    const { samlResponse, relayState } = await provider.visit(headers.get('location')!);
    const { status, body } = await app.anonymous.send('POST', CALLBACK, {
      raw: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(status).toBe(200);
    const [, sessionIndex] = / SessionIndex="([^"]+)"/.exec(Buffer.from(samlResponse, 'base64').toString())!;
    return { client: app.as(body.accessToken), sessionIndex: sessionIndex! };
  }
  const logoutRequest = (name: string, over: Record<string, string> = {}, indexes: readonly string[] = []) => {
    const id = `_${randomBytes(16).toString('hex')}`;
    const said = {
      id,
      issuer: provider.entityId,
      destination: ourSlo(),
      at: new Date().toISOString(),
      ends: '',
      ...over,
    };
    return (
      `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${said.id}" Version="2.0" IssueInstant="${said.at}"` +
      (said.destination === '' ? '' : ` Destination="${said.destination.replaceAll('&', '&amp;')}"`) +
      (said.ends === '' ? '>' : ` NotOnOrAfter="${said.ends}">`) +
      `<saml:Issuer>${said.issuer}</saml:Issuer><saml:NameID>${name}</saml:NameID>` +
      indexes.map((index) => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`).join('') +
      `</samlp:LogoutRequest>`
    );
  };
  const sentBy = (xml: string, signingKey: string | undefined = provider.pair.privateKeyPem) => {
    const address = new URL(
      redirectAddress(ourSlo(), { parameter: 'SAMLRequest', xml, relayState: 'back again', signingKey }),
    );
    return address.pathname + address.search;
  };
  const byRedirect = (xml: string, signingKey?: string) => app.anonymous.get(sentBy(xml, signingKey));
  const byForm = (xml: string) =>
    app.anonymous.send('POST', `/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}`, {
      raw: new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString('base64') }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const reasonsOfRefusals = async () => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso.logout_refused');
    return (body.auditLogs as { details: { detail: string } }[]).map(({ details }) => details.detail);
  };
  const inflated = (address: string, parameter: string) =>
    inflateRawSync(Buffer.from(new URL(address).searchParams.get(parameter)!, 'base64')).toString();
  const isLive = async ({ client }: Awaited<ReturnType<typeof signIn>>) =>
    (await client.get('/api/v1/admin/me')).status === 200;

  it('imports a configuration that signs in, and takes new keys from the metadata later', async () => {
    const { body } = await tenant.admin.get(`/api/v1/admin/sso-configs/${configId}`);
    expect(body).toMatchObject({
      name: 'Company',
      protocol: 'saml',
      isEnabled: true,
      idpEntityId: provider.entityId,
      idpSsoUrl: provider.ssoUrl,
      idpSloUrl: SLO,
    });
    expect(body.idpCertificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    await signIn();
    const path = `/api/v1/admin/sso-configs/${configId}/metadata`;
    const rolled = samlMetadata({
      entityId: provider.entityId,
      ssoUrl: provider.ssoUrl,
      sloUrl: SLO,
      pairs: [provider.pair],
    });
    const refreshed = await tenant.admin.put(path, { metadata: rolled });
    expect([refreshed.status, refreshed.body.idpCertificate.match(/BEGIN/g), refreshed.body.name]).toEqual([
      200,
      ['BEGIN'],
      'Company',
    ]);
    const foreign = await tenant.admin.put(path, { metadata: samlMetadata() });
    expect([foreign.status, foreign.body.error]).toEqual([
      400,
      'validation failed: metadata: does not describe that entityId',
    ]);
    for (const [field, given] of [
      ['metadata', {}],
      ['metadata', { metadata: rolled, metadataUrl: 'https://idp.example' }],
      ['metadata', { metadata: '<r/>' }],
      ['metadataUrl', { metadataUrl: `${describedAt()}/elsewhere` }],
      ['metadataUrl', { metadataUrl: 'http://127.0.0.1:9/' }],
    ] as const) {
      const { status, body: refused } = await tenant.admin.post('/api/v1/admin/sso-configs/import', given);
      expect([status, refused.error]).toEqual([400, expect.stringContaining(`validation failed: ${field}: `)]);
    }
    await app.settled();
    const { body: audit } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso_config.updated');
    expect(audit.auditLogs).toHaveLength(1);
  });

  it('accepts a certificate as bare base64', async () => {
    const { status, body } = await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, {
      idpCertificate: bareCertificate(provider.pair.certificatePem),
    });
    expect([status, body.idpCertificate]).toEqual([200, expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/)]);
  });

  it('ends a session here, and says where to end it at the provider, which sends the browser back', async () => {
    const session = await signIn();
    const { body } = await session.client.post('/api/v1/auth/sso/logout');
    expect(await isLive(session)).toBe(false);
    const address = new URL(body.logoutUrl);
    expect([address.origin + address.pathname, address.searchParams.get('realm')]).toEqual([
      'https://idp.example/slo',
      'a',
    ]);
    const xml = inflated(body.logoutUrl, 'SAMLRequest');
    expect(xml).toContain(
      `>${tenant.email}</saml:NameID><samlp:SessionIndex>${session.sessionIndex}</samlp:SessionIndex>`,
    );
    const back = await app.anonymous.get(`/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}&SAMLResponse=fVA`);
    expect([back.status, back.headers.get('location')]).toEqual([302, `/login?tenant_id=${tenant.tenantId}`]);
  });

  it('ends the sessions that a signed request of the provider names, and responds to it', async () => {
    const [first, second] = [await signIn(), await signIn()];
    const one = await byRedirect(logoutRequest(tenant.email, { id: '_logout' }, [first.sessionIndex]));
    expect([await isLive(first), await isLive(second)]).toEqual([false, true]);
    const address = one.headers.get('location')!;
    expect([one.status, new URL(address).searchParams.get('RelayState')]).toEqual([302, 'back again']);
    expect(inflated(address, 'SAMLResponse')).toContain('InResponseTo="_logout"');
    const posted = await byForm(signElement(logoutRequest(tenant.email), 'LogoutRequest', provider.pair));
    expect([posted.status, await isLive(second)]).toEqual([303, false]);
  });

  it('ends no session for a request that is unsigned, wrong, late, or about somebody else', async () => {
    const session = await signIn();
    const right = logoutRequest(tenant.email);
    const stranger = newSigningPair('somebody else').privateKeyPem;
    const signedAddress = new URL(
      redirectAddress(ourSlo(), {
        parameter: 'SAMLRequest',
        xml: right,
        relayState: 'a',
        signingKey: provider.pair.privateKeyPem,
      }),
    );
    const slo = `/api/v1/auth/saml/logout`;
    const responses = await Promise.all([
      app.anonymous.get(
        redirectAddress(slo.replace('/', 'https://castellan.example/'), {
          parameter: 'SAMLRequest',
          xml: right,
          relayState: undefined,
          signingKey: undefined,
        }).replace('https://castellan.example', '') + `&tenant_id=${tenant.tenantId}`,
      ),
      byRedirect(right, stranger),
      app.anonymous.get(slo + signedAddress.search.replace('RelayState=a', 'RelayState=b')),
      byRedirect(logoutRequest(tenant.email, { issuer: 'urn:example:other' })),
      byRedirect(logoutRequest(tenant.email, { destination: 'https://evil.example/slo' })),
      byRedirect(logoutRequest(tenant.email, { destination: '' })),
      byRedirect(logoutRequest(tenant.email, { id: '' })),
      byRedirect(logoutRequest(tenant.email, { at: minutesAgo(60) })),
      byRedirect(logoutRequest(tenant.email, { ends: 'never' })),
      byForm(right),
      byForm(signElement(logoutRequest(tenant.email, { destination: '' }), 'LogoutRequest', provider.pair)),
      byForm(signElement(right, 'LogoutRequest', provider.pair).replace(tenant.email, 'root@t1.example')),
    ]);
    const outcome = ({ status, headers }: (typeof responses)[number]) => {
      const location = headers.get('location');
      if (location === null) return status;
      expect(location).toMatch(/^https:\/\/idp\.example\/slo\?realm=a&/);
      return /status:(\w+)"\/>/.exec(inflated(location, 'SAMLResponse'))![1];
    };
    // Another issuer is nobody to respond to.
    expect(responses.map(outcome)).toEqual(responses.map((_, index) => (index === 3 ? 401 : 'RequestDenied')));
    await app.settled();
    const { body: log } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso.logout_refused');
    expect([log.total, log.auditLogs[0].details]).toEqual([
      responses.length,
      { protocol: 'saml', detail: expect.any(String), configId },
    ]);
    expect((await byRedirect(logoutRequest('nobody@t1.example'))).status).toBe(302);
    expect((await byRedirect(logoutRequest(tenant.email, {}, ['_another']))).status).toBe(302);
    expect(await isLive(session)).toBe(true);
  });

  it.each(['', new Date(Date.now() + 5 * 60_000).toISOString()])(
    'lets a request count once, by either address and however it is sent (end: "%s")',
    async (ends) => {
      const first = await signIn();
      const xml = logoutRequest(tenant.email, { ends });
      const refusedBefore = (await reasonsOfRefusals()).length;
      expect((await app.anonymous.get(sentBy(xml))).status).toBe(302);
      expect(await isLive(first)).toBe(false);
      const second = await signIn();
      await app.anonymous.get(sentBy(xml));
      await byForm(signElement(xml, 'LogoutRequest', provider.pair));
      expect(await isLive(second)).toBe(true);
      expect((await reasonsOfRefusals()).slice(0, -refusedBefore || undefined)).toEqual(['replayed', 'replayed']);
    },
  );

  it('lets one of several deliveries at once count', async () => {
    const session = await signIn();
    const address = sentBy(logoutRequest(tenant.email));
    const refusedBefore = (await reasonsOfRefusals()).length;
    await Promise.all(Array.from({ length: 5 }, () => app.anonymous.get(address)));
    expect(await isLive(session)).toBe(false);
    expect((await reasonsOfRefusals()).length - refusedBefore).toBe(4);
  });

  it('counts at the next delivery if nobody knows whether its id was stored', async () => {
    const session = await signIn();
    const address = sentBy(logoutRequest(tenant.email));
    const restore = lostOnce(app.services, 'insert into one_time_tokens');
    expect((await app.anonymous.get(address)).status).toBe(503);
    restore();
    expect(await isLive(session)).toBe(true);
    await app.anonymous.get(address);
    expect(await isLive(session)).toBe(false);
  });

  it('ends no session that began after the request was issued', async () => {
    const session = await signIn();
    await byRedirect(logoutRequest(tenant.email, { at: minutesAgo(4) }));
    expect(await isLive(session)).toBe(true);
    expect((await reasonsOfRefusals())[0]).toBe('expired');
    await byRedirect(logoutRequest(tenant.email, { at: minutesAgo(2) }));
    expect(await isLive(session)).toBe(false);
  });

  it('counts for ten minutes and not after its end, with a minute for a clock that is behind', async () => {
    const refused = async (over: Record<string, string>) => {
      const { headers } = await byRedirect(logoutRequest('nobody@t1.example', over));
      return inflated(headers.get('location')!, 'SAMLResponse').includes('RequestDenied');
    };
    expect(await refused({ at: minutesAgo(10.5) })).toBe(false);
    expect(await refused({ at: minutesAgo(11.1) })).toBe(true);
    expect(await refused({ at: minutesAgo(5), ends: minutesAgo(0.5) })).toBe(false);
    expect(await refused({ at: minutesAgo(5), ends: minutesAgo(1.1) })).toBe(true);
    // A clock that is ahead lengthens nothing, and may be three minutes.
    expect(await refused({ at: minutesAgo(-2.9) })).toBe(false);
    expect(await refused({ at: minutesAgo(-3.1) })).toBe(true);
  });

  it('is remembered for as long as an assertion from before can arrive, also if it ends sooner', async () => {
    const { owner } = app.services.database;
    await owner.query(`delete from one_time_tokens where tenant_id = $1 and purpose = 'saml-logout'`, [
      tenant.tenantId,
    ]);
    await byRedirect(logoutRequest(tenant.email, { ends: new Date(Date.now() + 10_000).toISOString() }));
    const { rows } = await owner.query<{ seconds: number }>(
      `select extract(epoch from expires_at - now())::float8 as seconds from one_time_tokens
        where tenant_id = $1 and purpose = 'saml-logout'`,
      [tenant.tenantId],
    );
    expect(rows[0]!.seconds).toBeGreaterThan(600);
  });

  it('responds where the metadata says that responses go, and sends requests to the other address', async () => {
    const path = `/api/v1/admin/sso-configs/${configId}`;
    const described = (sloResponseUrl: string) => {
      const { entityId, ssoUrl, pair } = provider;
      return tenant.admin.put(`${path}/metadata`, {
        metadata: samlMetadata({ entityId, ssoUrl, sloUrl: SLO, sloResponseUrl, pairs: [pair] }),
      });
    };
    const imported = await described('https://idp.example/responses');
    expect([imported.status, imported.body.idpSloUrl, imported.body.idpSloResponseUrl]).toEqual([
      200,
      SLO,
      'https://idp.example/responses',
    ]);
    const session = await signIn();
    const responded = (await byRedirect(logoutRequest('nobody@t1.example'))).headers.get('location')!;
    expect(responded).toMatch(/^https:\/\/idp\.example\/responses\?/);
    expect(inflated(responded, 'SAMLResponse')).toContain('Destination="https://idp.example/responses"');
    const { body } = await session.client.post('/api/v1/auth/sso/logout');
    expect(body.logoutUrl).toMatch(/^https:\/\/idp\.example\/slo\?realm=a&/);
    const wrong = await described('javascript:alert(1)');
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining('metadata: SingleLogoutService: ')]);
    const cleared = await tenant.admin.put(path, { idpSloResponseUrl: null });
    expect([cleared.status, cleared.body.idpSloResponseUrl]).toEqual([200, null]);
  });

  it('responds to a refused request at the configured address, with its id and relay state, signed', async () => {
    const key = newSigningPair('castellan');
    await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, {
      spSigningKey: key.privateKeyPem,
      spCertificate: key.certificatePem,
    });
    const unsigned = (over: Record<string, string>) =>
      app.anonymous.get(sentBy(logoutRequest(tenant.email, over)).replace(/&SigAlg=.*/, ''));
    const { headers } = await unsigned({ id: '_refused', destination: 'https://evil.example/slo' });
    const location = headers.get('location')!;
    expect(new URL(location).searchParams.get('RelayState')).toBe('back again');
    const xml = signedRedirectMessage('SAMLResponse', new URL(location).search.slice(1), [key.certificatePem]);
    expect(xml).toContain(' InResponseTo="_refused"');
    expect(xml).toContain(
      '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Requester">' +
        '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:RequestDenied"/></samlp:StatusCode>' +
        '<samlp:StatusMessage>signature</samlp:StatusMessage>',
    );
    expect(location).not.toContain('evil');
    for (const id of ['', '1', 'a b', `_${'x'.repeat(256)}`, '"&gt;'.replaceAll('"', '&quot;')]) {
      const response = await unsigned({ id });
      expect(inflated(response.headers.get('location')!, 'SAMLResponse')).not.toContain('InResponseTo');
    }
  });

  it('tells a browser that a sign-out was refused, and that the session goes on, if it can respond to nobody', async () => {
    const foreign = logoutRequest(tenant.email, { issuer: 'urn:example:other' });
    const refused = await navigate(app.url + sentBy(foreign));
    expect([refused.status, refused.headers.get('location')]).toEqual([401, null]);
    expect(refused.text).toContain('<h1>This sign-out was refused</h1>');
    expect(refused.text).toContain('still signed in');
    expect(refused.text).not.toContain('sign-in page');
    const incomplete = await navigate(`${app.url}/api/v1/auth/saml/logout`);
    expect([incomplete.status, incomplete.text]).toEqual([400, expect.stringContaining('This sign-out was refused')]);
    await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, { idpSloUrl: null });
    const nowhere = await navigate(app.url + sentBy(logoutRequest(tenant.email, { destination: '' })));
    expect([nowhere.status, nowhere.text]).toEqual([401, expect.stringContaining('still signed in')]);
  });

  it('says that a request is signed with SHA-1, by redirect and by form', async () => {
    const xml = logoutRequest(tenant.email);
    const address = new URL(sentBy(xml), 'https://here.example');
    const query = address.search.slice(1).replace(/&SigAlg=.*/, '');
    const [tenantId, ...signed] = query.split('&');
    const octets = [...signed, `SigAlg=${encodeURIComponent('http://www.w3.org/2000/09/xmldsig#rsa-sha1')}`].join('&');
    const signature = sign('sha1', Buffer.from(octets), provider.pair.privateKeyPem).toString('base64');
    await app.anonymous.get(`${address.pathname}?${tenantId}&${octets}&Signature=${encodeURIComponent(signature)}`);
    expect((await reasonsOfRefusals())[0]).toBe('weak_algorithm');
  });
});
