import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { privateNetworks } from '../../../../src/platform/outbound/private-networks.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';
import { ownAuthority } from '../../../dsl/own-authority.ts';

const CONFIGS = '/api/v1/admin/sso-configs';
const ORG_CONFIGS = '/api/v1/org/sso-configs';

interface Peer {
  readonly url: string;
  /** What the discovery document calls the issuer. */
  calls(issuer: string): void;
  close(): void;
}

async function startPeer(tls: { readonly cert: string; readonly key: string }): Promise<Peer> {
  let url = '';
  let named: string | undefined;
  const server = createServer(tls, (request, response) => {
    if (request.url !== '/.well-known/openid-configuration') return response.writeHead(404).end();
    const ends = { authorization_endpoint: `${url}/a`, token_endpoint: `${url}/t`, jwks_uri: `${url}/k` };
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ issuer: named ?? url, ...ends }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    calls: (issuer) => {
      named = issuer;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const tls = ownAuthority();
const peers: Peer[] = [];
const peerWith = async (certificate: ReturnType<typeof ownAuthority>): Promise<Peer> => {
  const peer = await startPeer(certificate);
  peers.push(peer);
  return peer;
};

let app: TestApp;
let acme: TestTenant;
let north: TestOrganization;
beforeAll(async () => {
  app = await startApp({ outboundNetworks: privateNetworks(['127.0.0.0/8']) });
  north = await newOrganization(app, 'North');
});
beforeEach(async () => {
  acme = await app.newTenant();
});
afterAll(async () => {
  for (const peer of peers) peer.close();
  await app?.close();
});

const tested = async (issuerUrl: string, over: object = {}): Promise<string> => {
  const body = { issuerUrl, clientId: 'c', ...over };
  const [own, organizations] = [
    await acme.admin.post(`${CONFIGS}/test`, body),
    await north.owner.post(`${ORG_CONFIGS}/test`, body),
  ];
  expect([own.status, own.body.success]).toEqual([200, false]);
  expect([organizations.status, organizations.body]).toEqual([200, own.body]);
  return own.body.message as string;
};
const savedWith = async (issuerUrl: string, over: object = {}, below: '' | '/test' = ''): Promise<string> => {
  const body = { issuerUrl, clientId: 'c', ...over };
  const [own, organizations] = [
    await acme.admin.post(CONFIGS + below, body),
    await north.write('POST', ORG_CONFIGS + below, body),
  ];
  expect([own.status, organizations.status]).toEqual([400, 400]);
  expect(organizations.body.error).toBe(own.body.error);
  return own.body.error as string;
};
const imported = async (metadataUrl: string, over: object = {}): Promise<string> => {
  const { status, body } = await acme.admin.post(`${CONFIGS}/import`, { metadataUrl, ...over });
  expect(status).toBe(400);
  return body.error as string;
};
const opted = { allowPrivateNetwork: true };

describe('a provider in a private network', () => {
  it.each([
    ['https://127.0.0.1:1', {}, 'leads to a private network: set allowPrivateNetwork to allow that'],
    [
      'https://10.1.2.3',
      opted,
      'leads to a private network that the operator has not listed in OUTBOUND_PRIVATE_NETWORKS',
    ],
    ['https://169.254.169.254', opted, 'leads to an address that is never called'],
  ])('at %s with %j is explained by the test and by the import as by saving', async (address, over, reason) => {
    const refusal = `validation failed: issuerUrl: ${reason}`;
    expect([await savedWith(address, over), await savedWith(address, over, '/test')]).toEqual([refusal, refusal]);
    expect(await imported(address, over)).toBe(
      `validation failed: metadataUrl: the address ${reason}; or paste the document as metadata`,
    );
  });
});

describe('a call that fails', () => {
  it.each([
    ['untrusted', ownAuthority(), {}, /^its certificate is not trusted: set caCertificate/],
    [
      'of another authority',
      ownAuthority(),
      { caCertificate: tls.cert },
      /^its certificate is not trusted: caCertificate is another authority/,
    ],
    ['expired', ownAuthority({ startsIn: -9, endsIn: -2 }), null, /^its certificate has expired/],
    ['too new', ownAuthority({ startsIn: 2, endsIn: 9 }), null, /^its certificate is not valid yet/],
    ['for another name', ownAuthority({ ip: '127.9.9.9' }), null, /^its certificate is for another name/],
  ])('because the certificate is %s says so', async (_what, certificate, trust, reason) => {
    const { url } = await peerWith(certificate);
    const over = { ...opted, ...(trust ?? { caCertificate: certificate.cert }) };
    expect(await tested(url, over)).toMatch(reason);
    const refusal = await imported(url, over);
    expect(refusal).toMatch(/^validation failed: metadataUrl: .*; or paste the document as metadata$/);
    expect(refusal.replace('validation failed: metadataUrl: ', '')).toMatch(reason);
  });

  it('because nothing listens says no more than that', async () => {
    const gone = await startPeer(tls);
    gone.close();
    expect(await tested(gone.url, opted)).toBe('the address cannot be reached');
    expect(await imported(gone.url, opted)).toContain('metadataUrl: the address cannot be reached; or paste');
    expect(await tested('https://no-such-name.invalid')).toBe('the address cannot be reached');
  });

  it.each([
    ['that never responds', () => undefined],
    ['that never ends its response', (response: ServerResponse) => void response.writeHead(200).write('<md:')],
  ])('because of a server %s says so once the deadline of the call is over', async (_what, respond) => {
    const peer = createServer(tls, (_request, response) => respond(response));
    peer.listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const deadlines = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(300));
    try {
      const url = `https://127.0.0.1:${(peer.address() as AddressInfo).port}`;
      const over = { ...opted, caCertificate: tls.cert };
      expect(await imported(url, over)).toContain('metadataUrl: the address does not respond in time; or paste');
      expect(deadlines).toHaveBeenCalledWith(10_000);
      expect(await tested(url, over)).toBe('the address does not respond in time');
    } finally {
      deadlines.mockRestore();
      peer.closeAllConnections();
      peer.close();
    }
  });

  it('because of a certificate has a detail of its own in the audit log, and none for the public', async () => {
    const { url } = await peerWith(tls);
    expect((await acme.admin.post(CONFIGS, { issuerUrl: url, clientId: 'c', ...opted })).status).toBe(201);
    const challenge = 'c'.repeat(43);
    const path = `/api/v1/auth/sso/login?tenant_id=${acme.tenantId}`;
    expect((await app.anonymous.get(path)).body.error).toBe('single sign-on failed: idp_error');
    const page = await app.anonymous.get(`${path}&return_to=login&challenge=${challenge}`);
    expect(page.headers.get('location')).toMatch(/sso_error=idp_error&sso_hint=unreachable$/);
    await app.settled();
    const { auditLogs } = (await acme.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
    expect(auditLogs[0].details).toMatchObject({ reason: 'idp_error', detail: 'untrusted certificate' });
  });
});

describe('an address that is not the issuer', () => {
  const over = { ...opted, caCertificate: tls.cert };

  it('is told the issuer that the document names, cleaned and bounded', async () => {
    const peer = await peerWith(tls);
    peer.calls('https://sts.example/acme/');
    const named = 'the discovery document names another issuer: ';
    expect(await tested(peer.url, over)).toBe(`${named}https://sts.example/acme/`);
    peer.calls(`https://sts.example/\u0000\n\u202e${'x'.repeat(2_000)}`);
    const message = await tested(peer.url, over);
    expect(message).toMatch(/^the discovery document names another issuer: https:\/\/sts\.example\/ x{100,200}…$/);
    expect(message.length).toBeLessThan(260);
    peer.calls(' ');
    expect(await tested(peer.url, over)).toBe(`${named}(empty)`);
  });

  it('is refused in a sign-in with a detail that says so', async () => {
    const peer = await peerWith(tls);
    peer.calls('https://sts.windows.net/acme/');
    expect((await acme.admin.post(CONFIGS, { issuerUrl: peer.url, clientId: 'c', ...over })).status).toBe(201);
    expect((await app.anonymous.get(`/api/v1/auth/sso/login?tenant_id=${acme.tenantId}`)).status).toBe(401);
    await app.settled();
    const { auditLogs } = (await acme.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
    expect(auditLogs[0].details).toMatchObject({ reason: 'idp_error', detail: 'another issuer' });
  });

  const document = 'is the address of a discovery document: leave out /.well-known/openid-configuration';
  const microsoft = (host: string) =>
    `stands for every directory of Microsoft: use https://${host}/<directory (tenant) id>/v2.0`;
  it.each([
    ['https://idp.example/.well-known/openid-configuration', document],
    ['https://idp.example/realms/acme/.well-known/openid-configuration/', document],
    ['https://login.microsoftonline.com/common/v2.0', microsoft('login.microsoftonline.com')],
    ['https://LOGIN.microsoftonline.com/Organizations/v2.0/', microsoft('login.microsoftonline.com')],
    ['https://login.microsoftonline.us/consumers', microsoft('login.microsoftonline.us')],
  ])('%s is refused with what to enter instead', async (address, reason) => {
    expect(await savedWith(address)).toBe(`validation failed: issuerUrl: ${reason}`);
    expect(await tested(address)).toBe(`the address ${reason}`);
    const { body } = await acme.admin.post(CONFIGS, { issuerUrl: 'https://idp.example', clientId: 'c' });
    const changed = await acme.admin.put(`${CONFIGS}/${body.id}`, { issuerUrl: address });
    expect([changed.status, changed.body.error]).toEqual([400, `validation failed: issuerUrl: ${reason}`]);
  });
});

describe('metadata with a value that no field takes', () => {
  it.each([
    ['x'.repeat(1_025), {}, 'entityID: must be at most 1024 characters long'],
    ['', {}, 'entityID: must not be empty'],
    [
      'urn:idp',
      { ssoUrl: `https://idp.example/${'x'.repeat(2_048)}` },
      /^SingleSignOnService: must be at most \d+ char/,
    ],
    ['urn:idp', { sloUrl: 'https://a:b@idp.example/slo' }, 'SingleLogoutService: must contain no credentials'],
  ])('names the part in words of this API', async (entity, over, reason) => {
    const metadata = samlMetadata({ entityId: entity, ...over });
    const { status, body } = await acme.admin.post(`${CONFIGS}/import`, { metadata });
    expect([status, body.fields]).toEqual([
      400,
      [{ field: 'metadata', message: typeof reason === 'string' ? reason : expect.stringMatching(reason) }],
    ]);
  });
});
