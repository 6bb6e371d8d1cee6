import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeDomain, vouchForDomain } from '../../../../src/app/cli/organization-commands.ts';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';
import { startNameServer, type NameServer } from '../../../fixtures/name-server.ts';

const DOMAINS = '/api/v1/org/domains';
const CONFIGS = '/api/v1/org/sso-configs';

describe('e-mail domains of an organization', () => {
  let app: TestApp;
  let names: NameServer;
  let north: TestOrganization;
  let south: TestOrganization;
  let domain: string;
  beforeAll(async () => {
    names = await startNameServer();
    app = await startApp({ dnsServers: [names.address] });
  });
  beforeEach(async () => {
    [north, south] = [await newOrganization(app), await newOrganization(app)];
    domain = `${randomUUID()}.example`;
  });
  afterAll(async () => {
    await app.close();
    await names.close();
  });

  const provider = (over: object = {}) => ({
    issuerUrl: 'https://idp.example',
    clientId: 'castellan',
    emailDomains: [domain],
    ...over,
  });
  const prove = (org: TestOrganization, of = domain) => org.write('POST', DOMAINS, { domain: of });
  const publish = async (org: TestOrganization, of = domain) => {
    const { record } = (await prove(org, of)).body;
    names.records.set(record.name, ['something else', record.value]);
    return record as { name: string; value: string };
  };
  const discovered = async (email: string): Promise<boolean> =>
    (await app.anonymous.post('/api/v1/org/auth/sso/discover', { email })).body.ssoAvailable;

  it('are pending until DNS shows the record, and verified from then on', async () => {
    const first = await prove(north, domain.toUpperCase());
    expect([first.status, first.body]).toEqual([
      200,
      {
        domain,
        status: 'pending',
        record: {
          name: `_castellan-challenge.${domain}`,
          type: 'TXT',
          value: expect.stringMatching(/^castellan-domain-verification=[\w-]{32,}$/),
        },
      },
    ]);
    expect((await north.owner.get(DOMAINS)).body).toEqual({ domains: [], total: 0 });
    names.records.set(first.body.record.name, [first.body.record.value]);
    expect((await prove(north)).body).toEqual({ ...first.body, status: 'verified' });
    expect((await north.owner.get(DOMAINS)).body).toEqual({
      domains: [{ domain, proof: 'dns', verifiedAt: expect.any(String) }],
      total: 1,
    });
    // A verified domain stays verified after the record is gone.
    names.records.clear();
    expect((await north.owner.get(DOMAINS)).body.total).toBe(1);
  });

  it.each(['gmail.com', 'mail.gmail.com', 'outlook.com', 'googlemail.com', 'co.uk', 'github.io', 'intranet.local'])(
    'cannot be %s, which no organization owns',
    async (shared) => {
      const isOwnable = shared === 'intranet.local';
      const { status, body } = await prove(north, shared);
      expect([status, body.fields?.[0]?.field]).toEqual(isOwnable ? [200, undefined] : [400, 'domain']);
      const vouched = vouchForDomain(app.services, { slug: north.slug, domain: shared });
      if (isOwnable) await vouched;
      else await expect(vouched).rejects.toThrow('domain');
    },
  );

  it("are not verified by another organization's record", async () => {
    const { name, value } = await publish(north);
    expect((await prove(south)).body.status).toBe('pending');
    names.records.set(name, [value.slice(0, -1)]);
    expect((await prove(north)).body.status).toBe('pending');
  });

  it('belong to one organization at a time, also when two verify one at once', async () => {
    const records = [await publish(north), await publish(south)];
    names.records.set(
      records[0]!.name,
      records.map(({ value }) => value),
    );
    const statuses = (await Promise.all([prove(north), prove(south)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409]);
    const [holder, other] = statuses[0] === 200 ? [north, south] : [south, north];
    expect((await holder.write('DELETE', `${DOMAINS}/${domain}`)).status).toBe(204);
    expect((await holder.write('DELETE', `${DOMAINS}/${domain}`)).status).toBe(404);
    expect((await prove(other)).body.status).toBe('verified');
  });

  it('route nobody to an organization that names them unverified, and change nothing for their owner', async () => {
    await south.write('POST', CONFIGS, provider({ issuerUrl: 'https://squatter.example' }));
    expect(await discovered(`ann@${domain}`)).toBe(false);
    await publish(north);
    expect((await prove(north)).body.status).toBe('verified');
    expect(await discovered(`ann@${domain}`)).toBe(false);
    expect((await north.write('POST', CONFIGS, provider())).status).toBe(201);
    const found = (await app.anonymous.post('/api/v1/org/auth/sso/discover', { email: `ann@${domain}` })).body;
    expect(found.loginUrl).toContain(`slug=${north.slug}`);
  });

  it('fall back to routing by account while none of the named domains is verified', async () => {
    await north.write('POST', CONFIGS, provider());
    expect(await discovered(north.email)).toBe(true);
    await vouchForDomain(app.services, { slug: north.slug, domain });
    await app.settled();
    expect(await discovered(north.email)).toBe(false);
    expect(await discovered(`ann@${domain}`)).toBe(true);
  });

  it('can be assigned and removed by the operator as well', async () => {
    await vouchForDomain(app.services, { slug: south.slug, domain: domain.toUpperCase() });
    await expect(vouchForDomain(app.services, { slug: north.slug, domain })).rejects.toThrow(
      'another organization has proved it',
    );
    await app.settled();
    expect((await south.owner.get(DOMAINS)).body.domains).toMatchObject([{ domain, proof: 'operator' }]);
    await removeDomain(app.services, { slug: south.slug, domain });
    await vouchForDomain(app.services, { slug: north.slug, domain });
    await expect(vouchForDomain(app.services, { slug: north.slug, domain: 'no domain' })).rejects.toThrow(
      'must be a domain',
    );
  });

  it('are verified by owners only, with re-authentication', async () => {
    expect((await north.owner.post(DOMAINS, { domain })).status).toBe(403);
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    expect((await viewer.client.get(DOMAINS)).status).toBe(200);
    expect((await viewer.client.post(DOMAINS, { domain })).status).toBe(403);
    for (const none of ['localhost', 'a b.example', '', 7])
      expect((await north.write('POST', DOMAINS, { domain: none })).status).toBe(400);
  });

  it('cannot be verified while no name server responds: 503, and nothing is recorded', async () => {
    const deaf = await startApp({ dnsServers: ['127.0.0.1:9'] });
    const org = await newOrganization(deaf);
    expect((await prove(org)).status).toBe(503);
    expect((await org.owner.get(DOMAINS)).body.total).toBe(0);
    await deaf.close();
  });
});
