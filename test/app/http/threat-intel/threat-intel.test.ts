import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { domainScan, domainScanStream } from '../../../../src/contexts/threat-intel/domain/domain-scan.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { CallBudget } from '../../../../src/contexts/threat-intel/call-budget.ts';
import { domainScanning } from '../../../../src/contexts/threat-intel/scan-domain.ts';
import { DomainScans } from '../../../../src/contexts/threat-intel/domain-scans.ts';
import { openProviders } from '../../../../src/contexts/threat-intel/open-providers.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { json, startThreatIntelPeer, type ThreatIntelPeer } from '../../../dsl/threat-intel-peer.ts';

const BASE = '/api/v1/admin/threat-intel';
const SCANS = '/api/v1/ext/domain-scans';
const DAY_MS = 86_400_000;

describe('threat intelligence', () => {
  let app: TestApp;
  let peer: ThreatIntelPeer;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    peer = await startThreatIntelPeer();
    const address = { url: peer.url, isTrusted: true };
    app = await startApp({ threatIntel: { scanner: address, reputation: address } });
  });
  beforeEach(() => peer.behave());
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
    await peer.close();
  });

  async function storeKey({ admin }: TestTenant, service: string, apiKey: string) {
    const { reAuthToken } = (await admin.post('/api/v1/admin/verify-password', { password: PASSWORD })).body as {
      reAuthToken: string;
    };
    return admin.put(`${BASE}/api-key`, { service, apiKey }, { headers: { 'x-reauth-token': reAuthToken } });
  }

  /** A tenant that uses these services, with one browser. */
  async function tenantWith(...services: ('scanner' | 'reputation')[]) {
    const tenant = await app.newTenant();
    for (const service of services)
      await storeKey(tenant, service, `${service} key of ${tenant.tenantId}`.replaceAll(' ', '-'));
    await tenant.admin.put(`${BASE}/settings`, {
      scannerEnabled: services.includes('scanner'),
      reputationEnabled: services.includes('reputation'),
    });
    const device = await enrolledDevice(app, tenant);
    open.push(device);
    const check = (domain: string) => device.client.post(`${SCANS}/check`, { domain });
    const need = async (domain: string) =>
      (await device.client.get(`${SCANS}/${domain}`)).body as Record<string, unknown>;
    return { tenant, device, check, need };
  }
  const someDomain = (kind = 'fine') => `${kind}-${randomUUID().slice(0, 8)}.example.org`;

  /** As if the services had been queried this many days ago. */
  async function scannedBefore({ tenantId }: TestTenant, domain: string, days: number) {
    const data = {
      scanId: randomUUID(),
      domain,
      silent: [],
      failures: [],
      postponed: [],
      isMalicious: false,
      deviceId: null,
      userId: null,
    };
    const endedAt = new Date(Date.now() - days * DAY_MS).toISOString();
    const command = defineCommand({
      name: 'ScanForTest',
      aggregate: domainScan,
      stream: () => domainScanStream(tenantId, domain),
      decide: () =>
        accept([
          {
            type: 'DomainScanEnded' as const,
            data: { ...data, endedAt, scanner: { isMalicious: false }, reputation: { maliciousCount: 0 } },
          },
        ]),
    });
    orThrow(await app.services.executor.execute(command, undefined, { tenantId, actor: system('test') }));
    await app.settled();
  }

  it('is off and without keys by default; omitted fields stay, and unknown ones are rejected', async () => {
    const { admin } = await app.newTenant();
    const off = {
      scannerEnabled: false,
      scannerConfigured: false,
      reputationEnabled: false,
      reputationConfigured: false,
    };
    expect((await admin.get(`${BASE}/settings`)).body).toEqual(off);
    expect((await admin.put(`${BASE}/settings`, { scannerEnabled: true, reputationConfigured: true })).body).toEqual({
      ...off,
      scannerEnabled: true,
    });
    expect((await admin.put(`${BASE}/settings`, { reputationEnabled: true })).body).toEqual({
      ...off,
      scannerEnabled: true,
      reputationEnabled: true,
    });
    expect((await admin.get(`${BASE}/settings`)).body).toEqual({
      ...off,
      scannerEnabled: true,
      reputationEnabled: true,
    });
    expect((await admin.put(`${BASE}/settings`, { scannerEnabled: 'yes' })).status).toBe(400);
  });

  it('accepts keys only with re-authentication, and never shows them', async () => {
    const tenant = await app.newTenant();
    const apiKey = `hidden-${randomUUID()}`;
    expect((await app.as(tenant.token).put(`${BASE}/api-key`, { service: 'scanner', apiKey })).status).toBe(403);
    expect([
      (await storeKey(tenant, 'weather', apiKey)).status,
      (await storeKey(tenant, 'scanner', 'two\nlines')).status,
      (await storeKey(tenant, 'scanner', 'x'.repeat(600))).status,
    ]).toEqual([400, 400, 400]);
    const stored = await storeKey(tenant, 'scanner', apiKey);
    expect([stored.status, stored.body]).toEqual([200, { service: 'scanner', configured: true }]);
    expect((await tenant.admin.get(`${BASE}/settings`)).body).toMatchObject({
      scannerConfigured: true,
      reputationConfigured: false,
    });

    const tested = await tenant.admin.post(`${BASE}/test`, { service: 'scanner' });
    expect(tested.body).toEqual({
      success: true,
      service: 'scanner',
      message: 'the service answered',
      latencyMs: expect.any(Number),
    });
    expect(peer.calls.at(-1)).toEqual({ service: 'scanner', domain: 'example.com', apiKey });
    const shown = [
      stored.text,
      tested.text,
      (await tenant.admin.get(`${BASE}/settings`)).text,
      (await tenant.admin.get('/api/v1/admin/audit-log')).text,
    ];
    for (const text of shown) expect(text).not.toContain(apiKey);
    const { rowCount } = await app.services.database.owner.query(
      "select 1 from events e where strpos(e::text, $1) > 0 union all select 1 from secrets s where strpos(encode(s.sealed, 'escape'), $1) > 0",
      [apiKey],
    );
    expect(rowCount).toBe(0);

    expect((await storeKey(tenant, 'scanner', '')).body).toEqual({ service: 'scanner', configured: false });
    expect((await tenant.admin.get(`${BASE}/settings`)).body).toMatchObject({ scannerConfigured: false });
    const { rows } = await app.services.database.owner.query<{ kept: number }>(
      "select count(*)::int as kept from secrets where tenant_id = $1 and owner = 'threatIntel'",
      [tenant.tenantId],
    );
    expect(rows[0]!.kept).toBe(0);
  });

  it('explains a failed test without disclosing anything', async () => {
    const tenant = await app.newTenant();
    expect((await tenant.admin.post(`${BASE}/test`, { service: 'reputation' })).body).toEqual({
      success: false,
      service: 'reputation',
      message: 'no API key is stored',
      latencyMs: expect.any(Number),
    });
    await storeKey(tenant, 'reputation', 'not-the-right-one');
    peer.behave((_call, response) => json(response, { error: 'not-the-right-one' }, 401));
    const { status, body, text } = await tenant.admin.post(`${BASE}/test`, { service: 'reputation' });
    expect([status, body.success, body.message]).toEqual([200, false, 'the service refused the API key']);
    expect(text).not.toContain('not-the-right-one');
    expect((await tenant.admin.post(`${BASE}/test`, { service: 'weather' })).status).toBe(400);
  });

  it("looks a domain up with the tenant's own keys, and returns stored results for seven days", async () => {
    const { tenant, check, need } = await tenantWith('scanner', 'reputation');
    const domain = someDomain();
    expect(await need(domain)).toEqual({
      domain,
      needsScan: true,
      scannerNeedsScan: true,
      reputationNeedsScan: true,
      scannerLastScannedAt: null,
      scannerIsMalicious: null,
      reputationLastScannedAt: null,
      reputationMaliciousCount: null,
    });
    const first = await check(domain.toUpperCase());
    const data = {
      scannerLastScannedAt: expect.any(String),
      scannerIsMalicious: false,
      reputationLastScannedAt: expect.any(String),
      reputationMaliciousCount: 0,
    };
    expect([first.status, first.body]).toEqual([
      200,
      { domain, scanned: true, verdict: 'clean', isMalicious: false, ...data },
    ]);
    expect(await need(domain)).toEqual({
      domain,
      needsScan: false,
      scannerNeedsScan: false,
      reputationNeedsScan: false,
      ...data,
    });
    expect((await check(domain)).body).toEqual({ ...first.body, scanned: false });
    expect(
      peer
        .callsAbout(domain)
        .map(({ apiKey }) => apiKey)
        .sort(),
    ).toEqual([`reputation-key-of-${tenant.tenantId}`, `scanner-key-of-${tenant.tenantId}`]);
  });

  it('queries again once the last scan is older than seven days', async () => {
    const { tenant, check, need } = await tenantWith('scanner', 'reputation');
    const [recent, old] = [someDomain(), someDomain()];
    await scannedBefore(tenant, recent, 6);
    await scannedBefore(tenant, old, 8);
    expect([(await need(recent))['needsScan'], (await need(old))['needsScan']]).toEqual([false, true]);
    expect([(await check(recent)).body.scanned, (await check(old)).body.scanned]).toEqual([false, true]);
    expect([peer.callsAbout(recent).length, peer.callsAbout(old).length]).toEqual([0, 2]);
  });

  it('makes one look-up for fifty requests about one domain', async () => {
    const { tenant, device, check } = await tenantWith('scanner', 'reputation');
    const others = await Promise.all(Array.from({ length: 4 }, () => enrolledDevice(app, tenant)));
    open.push(...others);
    const domain = someDomain();
    const clients = [device, ...others];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => clients[n % clients.length]!.client.post(`${SCANS}/check`, { domain })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(
      peer
        .callsAbout(domain)
        .map(({ service }) => service)
        .sort(),
    ).toEqual(['reputation', 'scanner']);
    expect((await check(domain)).body).toMatchObject({ verdict: 'clean', scanned: false });
  });

  it('makes one look-up also if the requests reach different processes', async () => {
    const { tenant, need } = await tenantWith('scanner', 'reputation');
    const { executor, loader, freshness, vault, database } = app.services;
    const ports = {
      executor,
      aggregates: loader,
      freshness,
      vault,
      budget: new CallBudget(database.service),
      providers: openProviders(app.config.threatIntel),
    };
    const processes = Array.from({ length: 8 }, () => new DomainScans(ports));
    const domain = someDomain();
    const nobody = { deviceId: null, userId: null };
    const results = await Promise.all(
      processes.map((process) => process.scan(domain, nobody, { tenantId: tenant.tenantId, actor: system('test') })),
    );
    expect([results.filter(({ scanned }) => scanned).length, peer.callsAbout(domain).length]).toEqual([1, 2]);
    expect((await need(domain))['needsScan']).toBe(false);
  });

  it('makes deferred look-ups later', async () => {
    const { tenant, device, need } = await tenantWith('scanner');
    const domain = someDomain('evil');
    await app.services.jobs.enqueue(domainScanning, {
      tenantId: tenant.tenantId,
      domain,
      deviceId: device.deviceId,
      userId: device.userId,
    });
    await expect.poll(async () => (await need(domain))['scannerIsMalicious'], { timeout: 10_000 }).toBe(true);
    await app.settled();
    expect((await tenant.admin.get('/api/v1/admin/alerts?alert_type=malicious_domain')).body.alerts).toMatchObject([
      { domain, deviceId: device.deviceId },
    ]);
  });

  it('stays within the budget of a service under concurrency, returns stored results to the browser, and defers the rest', async () => {
    const { tenant, device, check } = await tenantWith('reputation');
    const domains = Array.from({ length: 9 }, () => someDomain());
    const answers = await Promise.all(domains.map((domain) => check(domain)));
    const scanned = answers.filter(({ body }) => body.scanned === true);
    expect([scanned.length, domains.flatMap((domain) => peer.callsAbout(domain)).length]).toEqual([4, 4]);
    expect(answers.filter(({ status, body }) => status === 200 && body.verdict === 'unknown')).toHaveLength(5);
    const waiting = async () => (await app.services.jobs.counts()).delayed;
    const before = await waiting();
    expect(before).toBeGreaterThanOrEqual(5);
    const left = answers.find(({ body }) => body.scanned === false)!.body.domain as string;
    expect((await device.client.post(`${SCANS}/check`, { domain: left })).body).toMatchObject({
      verdict: 'unknown',
      scanned: false,
    });
    await expect.poll(waiting).toBe(before);
    expect((await tenant.admin.post(`${BASE}/test`, { service: 'reputation' })).body).toMatchObject({
      success: false,
      message: 'the budget of the service is used up',
    });
  });

  it('acquits no domain about which the services know nothing, and asks again after seven days', async () => {
    const { check, need } = await tenantWith('scanner', 'reputation');
    peer.behave(({ service }, response) =>
      service === 'scanner' ? json(response, { results: [] }) : json(response, {}, 404),
    );
    const domain = someDomain('unseen');
    const nothing = {
      scannerLastScannedAt: null,
      scannerIsMalicious: null,
      reputationLastScannedAt: null,
      reputationMaliciousCount: null,
    };
    for (let n = 0; n < 2; n += 1)
      expect((await check(domain)).body).toEqual({
        domain,
        scanned: false,
        verdict: 'unknown',
        isMalicious: false,
        ...nothing,
      });
    expect(peer.callsAbout(domain)).toHaveLength(2);
    expect(await need(domain)).toMatchObject({ needsScan: false, ...nothing });
  });

  it('shows a malicious scan on the endpoint, in its statistics and in the attack surface', async () => {
    const { tenant, device, check } = await tenantWith('scanner');
    const get = async (path: string) => (await tenant.admin.get(`/api/v1/admin/${path}`)).body;
    const domain = `evil.${randomUUID().slice(0, 8)}.example`;
    const site = domain.slice('evil.'.length);
    const visit = { eventId: randomUUID(), kind: 'navigation', occurredAt: new Date().toISOString(), domain, data: {} };
    await device.client.post('/api/v1/ext/events', { events: [visit] });
    expect((await check(domain)).body).toMatchObject({ verdict: 'malicious' });
    await app.settled();
    const { endpoints } = await get('endpoints');
    expect(endpoints).toMatchObject([{ isMalicious: true }]);
    expect((await get('endpoints/stats')).malicious).toBe(1);
    expect((await get('attack-surface')).domains).toMatchObject([{ domain: site, riskScore: 100 }]);
    // An analyst knows better.
    await tenant.admin.put(`/api/v1/admin/endpoints/${endpoints[0].id}/classification`, { classification: 'approved' });
    await app.settled();
    expect((await get('endpoints')).endpoints).toMatchObject([{ isMalicious: false }]);
    expect((await get('endpoints/stats')).malicious).toBe(0);
    expect((await get('attack-surface')).domains).toMatchObject([{ domain: site, riskScore: 0 }]);
  });

  it('gives one browser a share of the look-ups and of the queue, and leaves the rest to the others', async () => {
    const { tenant, check } = await tenantWith('scanner');
    const other = await enrolledDevice(app, tenant);
    open.push(other);
    const waiting = async () => (await app.services.jobs.counts()).delayed;
    const before = await waiting();
    const invented = Array.from({ length: 120 }, () => someDomain());
    const answers = [];
    for (let from = 0; from < invented.length; from += 20)
      answers.push(...(await Promise.all(invented.slice(from, from + 20).map(check))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    expect([
      answers.filter(({ body }) => body.scanned).length,
      invented.flatMap((domain) => peer.callsAbout(domain)).length,
    ]).toEqual([50, 50]);
    expect((await waiting()) - before).toBe(50);
    // A look-up that one browser was refused, another may make at once.
    const refused = answers.find(({ body }) => !body.scanned)!.body.domain as string;
    expect((await other.client.post(`${SCANS}/check`, { domain: refused })).body).toMatchObject({
      scanned: true,
      verdict: 'clean',
    });
  });

  it("reserves half of a day's budget for visited domains", async () => {
    const { tenant, device, check } = await tenantWith('scanner');
    const [visited, invented] = [someDomain(), someDomain()];
    const visit = {
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: new Date().toISOString(),
      domain: visited,
      data: {},
    };
    expect((await device.client.post('/api/v1/ext/events', { events: [visit] })).status).toBe(202);
    await app.settled();
    await app.services.database.owner.query(
      "insert into provider_calls select $1, 'scanner', now() - interval '1 hour' from generate_series(1, 500)",
      [tenant.tenantId],
    );
    expect((await check(invented)).body).toMatchObject({ scanned: false, verdict: 'unknown' });
    expect((await check(visited)).body).toMatchObject({ scanned: true, verdict: 'clean' });
    expect([peer.callsAbout(invented).length, peer.callsAbout(visited).length]).toEqual([0, 1]);
  });

  it('does not retry a failed look-up at once', async () => {
    const { check } = await tenantWith('scanner', 'reputation');
    const domain = someDomain();
    peer.behave(({ service }, response) =>
      service === 'scanner' ? json(response, {}, 500) : void response.writeHead(200).end('{'),
    );
    expect((await check(domain)).body).toMatchObject({
      scanned: false,
      verdict: 'unknown',
      isMalicious: false,
      scannerLastScannedAt: null,
    });
    peer.behave();
    expect((await check(domain)).body).toMatchObject({ scanned: false, verdict: 'unknown' });
    expect(peer.callsAbout(domain)).toHaveLength(2);
  });

  it('raises an alert about a malicious domain, for the user of the requesting browser', async () => {
    const { tenant, device, check, need } = await tenantWith('scanner', 'reputation');
    const domain = someDomain('evil');
    expect((await check(domain)).body).toMatchObject({
      scanned: true,
      verdict: 'malicious',
      isMalicious: true,
      scannerIsMalicious: true,
      reputationMaliciousCount: 7,
    });
    expect((await check(someDomain('doubtful'))).body).toMatchObject({ verdict: 'clean', reputationMaliciousCount: 1 });
    expect(await need(domain)).toMatchObject({ needsScan: false, scannerIsMalicious: true });
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/alerts?alert_type=malicious_domain');
    expect(body.alerts).toMatchObject([
      {
        domain,
        severity: 'critical',
        userId: device.userId,
        deviceId: device.deviceId,
        metadata: { kind: 'domain_scan', reputationMaliciousCount: 7 },
      },
    ]);
  });

  it('isolates results by tenant', async () => {
    const [mine, theirs] = [await tenantWith('scanner'), await tenantWith('scanner')];
    const domain = someDomain('evil');
    await mine.check(domain);
    expect(await theirs.need(domain)).toMatchObject({ needsScan: true, scannerIsMalicious: null });
    await theirs.check(domain);
    expect(peer.callsAbout(domain).map(({ apiKey }) => apiKey)).toEqual(
      [mine, theirs].map(({ tenant }) => `scanner-key-of-${tenant.tenantId}`),
    );
  });

  it('makes no request if disabled, without a key, or for an internal name; and requires a host name', async () => {
    const { tenant, check, need } = await tenantWith();
    const domain = someDomain();
    expect((await need(domain))['needsScan']).toBe(false);
    await tenant.admin.put(`${BASE}/settings`, { scannerEnabled: true });
    expect((await check(domain)).body).toMatchObject({ scanned: false, verdict: 'unknown' });
    await storeKey(tenant, 'scanner', 'key');
    for (const inside of ['10.1.2.3', 'wiki.corp', 'printer.local']) {
      expect([(await need(inside))['needsScan'], (await check(inside)).body.verdict]).toEqual([false, 'unknown']);
      expect(peer.callsAbout(inside)).toEqual([]);
    }
    expect(peer.callsAbout(domain)).toEqual([]);
    const { client } = open.at(-1)!;
    for (const bad of ['not%20a%20host', 'https%3A%2F%2Fa.example%2Fb', '-.example', 'a'.repeat(280)])
      expect([bad, (await client.get(`${SCANS}/${bad}`)).status]).toEqual([bad, 400]);
    expect((await client.post(`${SCANS}/check`, { domain: 'https://a.example/b' })).status).toBe(400);
    expect((await client.post(`${SCANS}/check`, {})).status).toBe(400);
  });
});
