import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { hashOf, reportedLogin } from '../../../dsl/observations.ts';

const ADMIN = '/api/v1/admin';
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const seen = (kind: string, hours: number, host: string, data: object, path = '/') => ({
  eventId: randomUUID(),
  kind,
  occurredAt: ago(hours),
  domain: host,
  url: `https://${host}${path}`,
  data,
});
const visit = (hours: number, host: string, over: object = {}, path = '/') =>
  seen('navigation', hours, host, { title: `Welcome to ${host}`, technologies: [], ...over }, path);
const flow = (hours: number, host: string, over: object = {}) =>
  seen('auth_flow', hours, host, {
    provider: null,
    method: 'oidc',
    relyingParty: null,
    mfaObserved: false,
    outcome: 'success',
    ...over,
  });

describe('a discovered host', () => {
  let app: TestApp;
  let acme: TestTenant;
  let kim: EnrolledDevice;
  let lee: EnrolledDevice;
  const fromKim = [
    visit(
      200,
      'www.shop.test',
      {
        technologies: [
          { name: 'nginx', version: '1.24' },
          { name: 'React', version: null },
        ],
      },
      '/basket?id=7',
    ),
    visit(3, 'www.shop.test', { technologies: [{ name: 'nginx', version: '1.26' }] }),
    reportedLogin(
      { occurredAt: ago(2), domain: 'www.shop.test', url: 'https://www.shop.test/login' },
      { isBreached: true, action: 'warn' },
    ),
    reportedLogin(
      { occurredAt: ago(1), domain: 'www.shop.test', url: 'https://www.shop.test/login' },
      { username: 'kim2' },
    ),
    flow(4, 'login.microsoftonline.com', { relyingParty: 'App.Acme.Test', mfaObserved: true }),
    flow(5, 'idp.acme.test', { provider: 'Keycloak', method: 'saml', relyingParty: 'wiki.acme.test' }),
    seen('policy_decision', 6, 'evil.test', { signals: ['malicious_domain'], action: 'block' }),
  ];
  const fromLee = [
    visit(8, 'www.shop.test'),
    visit(7, 'shop.test'),
    flow(3, 'login.microsoftonline.com', { method: 'passkey', relyingParty: 'app.acme.test' }),
  ];

  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
    [kim, lee] = [await enrolledDevice(app, acme), await enrolledDevice(app, acme)];
    // Sent twice: nothing is counted twice.
    for (const events of [fromKim, fromKim])
      expect((await kim.client.post('/api/v1/ext/events', { events })).status).toBe(202);
    await lee.client.post('/api/v1/ext/events', { events: fromLee });
    await app.settled();
  });
  afterAll(async () => {
    kim.client.close();
    lee.client.close();
    await app.close();
  });

  const get = async (path: string) => {
    const { status, body } = await acme.admin.get(`${ADMIN}/${path}`);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const idOf = async (list: 'endpoints' | 'auth-endpoints', url: string): Promise<string> => {
    const body = await get(`${list}?page_size=100`);
    return (body.endpoints ?? body.authEndpoints).find((one: { url: string }) => one.url.includes(url)).id;
  };

  it('is listed by latest discovery first, with exact counts', async () => {
    const { endpoints, ...page } = await get('endpoints');
    expect(page).toEqual({
      total: 5,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      totalIsLowerBound: false,
      nextCursor: null,
    });
    expect(endpoints.map(({ url }: { url: string }) => url)).toEqual([
      'https://login.microsoftonline.com/',
      'https://idp.acme.test/',
      'https://evil.test/',
      'https://shop.test/',
      'https://www.shop.test/',
    ]);
    expect(endpoints[4]).toEqual({
      id: expect.any(String),
      domain: 'shop.test',
      subdomain: 'www.shop.test',
      url: 'https://www.shop.test/',
      title: 'Welcome to www.shop.test',
      classification: 'unknown',
      technologies: [
        { name: 'React', version: null, category: 'javascript-framework', confidence: 50 },
        { name: 'nginx', version: '1.26', category: 'web-server', confidence: 100 },
      ],
      userCount: 2,
      credentialCount: 2,
      isMalicious: false,
      firstSeenAt: fromKim[0]!.occurredAt,
      lastSeenAt: fromKim[3]!.occurredAt,
      createdAt: fromKim[0]!.occurredAt,
      updatedAt: fromKim[3]!.occurredAt,
    });
    expect((await get('endpoints?page=2&page_size=2')).endpoints.map(({ url }: { url: string }) => url)).toEqual([
      'https://evil.test/',
      'https://shop.test/',
    ]);
    expect(await get(`endpoints/${endpoints[4].id}`)).toEqual(endpoints[4]);
  });

  it('is found by part of host and title, and by classification', async () => {
    const hosts = async (query: string) =>
      (await get(`endpoints?${query}`)).endpoints.map(({ url }: { url: string }) => url);
    expect(await hosts('search=SHOP')).toEqual(['https://shop.test/', 'https://www.shop.test/']);
    expect(await hosts('search=welcome%20to%20www')).toEqual(['https://www.shop.test/']);
    expect(await hosts('search=%25')).toEqual([]);
    expect(await hosts('classification=approved')).toEqual([]);
    expect(await hosts('classification=unknown&search=evil')).toEqual(['https://evil.test/']);
    for (const bad of ['classification=nonsense', 'page=0'])
      expect((await acme.admin.get(`${ADMIN}/endpoints?${bad}`)).status).toBe(400);
  });

  it('is classified, with an audit entry, and counted so at once', async () => {
    expect(await get('endpoints/stats')).toEqual({
      total: 5,
      byClassification: { unknown: 5, corporate: 0, approved: 0, personal: 0, unapproved: 0, malicious: 0 },
      newLast7Days: 4,
      malicious: 1,
    });
    const id = await idOf('endpoints', '//shop.test');
    const { status, body } = await acme.admin.put(`${ADMIN}/endpoints/${id}/classification`, {
      classification: 'malicious',
      reason: 'a copy',
    });
    expect([status, body.classification, body.isMalicious]).toEqual([200, 'malicious', true]);
    expect(await get('endpoints/stats')).toMatchObject({
      byClassification: { unknown: 4, malicious: 1 },
      malicious: 2,
    });
    expect((await get('endpoints?classification=malicious')).endpoints.map((one: { id: string }) => one.id)).toEqual([
      id,
    ]);
    expect((await get('endpoints?classification=unknown')).total).toBe(4);
    const { auditLogs } = await get('audit-log?action=endpoint.classified');
    expect(auditLogs).toMatchObject([
      { resourceId: id, actorId: acme.adminId, details: { classification: 'malicious', reason: 'a copy' } },
    ]);
    await acme.admin.put(`${ADMIN}/endpoints/${id}/classification`, { classification: 'unknown' });
    expect((await get('endpoints?classification=unknown')).total).toBe(5);
  });

  it('may be read by every role and classified by those who triage', async () => {
    const { client: viewer } = await app.adminWithRole(acme, 'viewer');
    const id = await idOf('endpoints', '//shop.test');
    expect((await viewer.get(`${ADMIN}/endpoints/${id}`)).status).toBe(200);
    expect((await viewer.put(`${ADMIN}/endpoints/${id}/classification`, { classification: 'approved' })).status).toBe(
      403,
    );
    for (const bad of [{}, { classification: 'nice' }, { classification: 'approved', reason: 7 }]) {
      expect((await acme.admin.put(`${ADMIN}/endpoints/${id}/classification`, bad)).status).toBe(400);
    }
    expect(
      (await acme.admin.put(`${ADMIN}/endpoints/${randomUUID()}/classification`, { classification: 'approved' }))
        .status,
    ).toBe(404);
  });

  it('names its visitors, latest first', async () => {
    const { users, total } = await get(`endpoints/${await idOf('endpoints', 'www.shop')}/users`);
    expect([total, users.map((user: { id: string; eventCount: number }) => [user.id, user.eventCount])]).toEqual([
      2,
      [
        [kim.userId, 4],
        [lee.userId, 1],
      ],
    ]);
    expect(users[0]).toEqual({
      id: kim.userId,
      email: expect.any(String),
      displayName: expect.any(String),
      lastSeenAt: fromKim[3]!.occurredAt,
      eventCount: 4,
    });
  });

  it('shows the identity provider, the methods and the second factor of its sign-ins', async () => {
    const { authEndpoints, total } = await get('auth-endpoints');
    expect([total, authEndpoints.map(({ domain }: { domain: string }) => domain)]).toEqual([
      3,
      ['www.shop.test', 'login.microsoftonline.com', 'idp.acme.test'],
    ]);
    expect(authEndpoints[1]).toMatchObject({
      url: 'https://login.microsoftonline.com/',
      provider: 'entra_id',
      methods: ['oidc', 'passkey'],
      mfaDetected: true,
      mfaOverride: null,
      mfaEffective: true,
      userCount: 2,
      relyingPartyCount: 1,
    });
    expect(authEndpoints[2]).toMatchObject({
      provider: 'other',
      methods: ['saml'],
      mfaEffective: false,
      userCount: 1,
      relyingPartyCount: 1,
    });
    expect(authEndpoints[0]).toMatchObject({
      provider: 'none',
      methods: ['password'],
      userCount: 1,
      relyingPartyCount: 0,
    });
    expect(await get(`auth-endpoints/${authEndpoints[1].id}`)).toEqual(authEndpoints[1]);
    expect(await get(`auth-endpoints/${authEndpoints[1].id}/relying-parties`)).toMatchObject({
      relyingParties: [
        {
          domain: 'app.acme.test',
          userCount: 2,
          firstSeenAt: fromKim[4]!.occurredAt,
          lastSeenAt: fromLee[2]!.occurredAt,
        },
      ],
      total: 1,
    });
    expect((await get(`auth-endpoints/${authEndpoints[0].id}/users`)).users).toMatchObject([
      { id: kim.userId, eventCount: 2, lastSeenAt: fromKim[3]!.occurredAt },
    ]);
  });

  it('lets an analyst override the second factor', async () => {
    const stats = async () => (await get('auth-endpoints/stats')).mfaAdoptionRate as number;
    expect(await get('auth-endpoints/stats')).toEqual({
      total: 3,
      mfaAdoptionRate: 1 / 3,
      providers: [
        { provider: 'entra_id', count: 1 },
        { provider: 'other', count: 1 },
        { provider: 'none', count: 1 },
      ],
      methods: [
        { method: 'password', count: 1 },
        { method: 'oidc', count: 1 },
        { method: 'saml', count: 1 },
        { method: 'passkey', count: 1 },
      ],
    });
    const id = await idOf('auth-endpoints', 'idp.acme');
    const override = async (mfaOverride: unknown) =>
      acme.admin.put(`${ADMIN}/auth-endpoints/${id}/mfa-override`, { mfaOverride });
    expect((await override('enabled')).body).toMatchObject({
      mfaDetected: false,
      mfaOverride: 'enabled',
      mfaEffective: true,
    });
    expect(await stats()).toBeCloseTo(2 / 3);
    expect((await override('disabled')).body).toMatchObject({ mfaEffective: false });
    expect(await stats()).toBeCloseTo(1 / 3);
    expect((await override(null)).body).toMatchObject({ mfaOverride: null, mfaEffective: false });
    expect((await override('maybe')).status).toBe(400);
    expect((await get('audit-log?action=auth_endpoint.mfa_overridden')).total).toBe(3);
  });

  it('adds to an attack surface with the riskiest domain first and its score in parts', async () => {
    await app.settled();
    const { domains, total } = await get('attack-surface');
    expect([
      total,
      domains.map(({ domain, riskScore }: { domain: string; riskScore: number }) => [domain, riskScore]),
    ]).toEqual([
      4,
      [
        ['shop.test', 60],
        ['evil.test', 55],
        ['acme.test', 0],
        ['microsoftonline.com', 0],
      ],
    ]);
    expect(domains[0]).toEqual({
      domain: 'shop.test',
      subdomainCount: 1,
      endpointCount: 2,
      authEndpointCount: 1,
      userCount: 2,
      riskScore: 60,
    });
    const detail = await get('attack-surface/domain/Shop.test');
    expect(detail.riskFactors).toEqual([
      { factor: 'breachedPasswords', points: 25 },
      { factor: 'passwordsWithoutMfa', points: 20 },
      { factor: 'warnings', points: 10 },
      { factor: 'unclassified', points: 5 },
    ]);
    expect(detail.subdomains).toEqual([
      { subdomain: 'www.shop.test', userCount: 2, lastSeenAt: fromKim[3]!.occurredAt },
    ]);
    expect(detail.endpoints).toHaveLength(2);
    const host = await get('attack-surface/subdomain/www.shop.test');
    expect(Object.keys(host).sort()).toEqual([
      'authEndpoints',
      'domain',
      'endpoints',
      'subdomain',
      'technologies',
      'users',
    ]);
    expect([host.domain, host.users.length, host.authEndpoints.length, host.technologies.length]).toEqual([
      'shop.test',
      2,
      1,
      2,
    ]);
    for (const unknown of ['domain/nowhere.test', 'subdomain/www.nowhere.test', 'domain/com', 'subdomain/%20']) {
      expect([unknown, (await acme.admin.get(`${ADMIN}/attack-surface/${unknown}`)).status]).toEqual([unknown, 404]);
    }
  });

  it('is invisible to another tenant, however its ids are spelled', async () => {
    const other = await app.newTenant();
    for (const path of ['endpoints', 'auth-endpoints', 'attack-surface'])
      expect((await other.admin.get(`${ADMIN}/${path}`)).body.total).toBe(0);
    const id = await idOf('endpoints', 'www.shop');
    expect((await other.admin.get(`${ADMIN}/endpoints/${id}`)).status).toBe(404);
    expect(
      (await other.admin.put(`${ADMIN}/endpoints/${id}/classification`, { classification: 'approved' })).status,
    ).toBe(404);
    expect((await other.admin.get(`${ADMIN}/attack-surface/domain/shop.test`)).status).toBe(404);
  });

  it('keeps nothing of an erased person, but remains listed', async () => {
    const tenant = await app.newTenant();
    const device = await enrolledDevice(app, tenant);
    await device.client.post('/api/v1/ext/events', {
      events: [
        visit(1, 'clinic.test', { title: 'Results of Sam Secret' }, '/sam-secret'),
        reportedLogin(
          { occurredAt: ago(1), domain: 'clinic.test' },
          { username: 'sam.secret', passwordHash: hashOf('two') },
        ),
      ],
    });
    await app.settled();
    const search = async () => (await tenant.admin.get(`${ADMIN}/search?q=sam%20secret`)).body.total;
    expect(await search()).toBe(1);
    expect((await tenant.admin.delete(`${ADMIN}/users/${device.userId}`)).status).toBe(204);
    await app.settled();
    expect(await search()).toBe(0);
    const { body, text } = await tenant.admin.get(`${ADMIN}/endpoints`);
    expect(body.endpoints).toMatchObject([
      { url: 'https://clinic.test/', title: null, userCount: 0, credentialCount: 0 },
    ]);
    expect(text.toLowerCase()).not.toContain('secret');
    device.client.close();
  });
});
