import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { openSession } from '../../../src/contexts/identity/sign-in.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { newScimClient, scimAs } from '../../dsl/scim.ts';
import { newOrganization } from '../../dsl/organization.ts';
import { findRedis, startRedis, type TestRedis } from '../../dsl/redis.ts';

const BUDGET = 3;
const CALLS = 8;
const ALERTS = '/api/v1/admin/alerts';
const POLICIES = '/api/v1/ext/policies';
const refusedThenLimited = [...Array<number>(BUDGET).fill(401), ...Array<number>(CALLS - BUDGET).fill(429)];

describe.each(findRedis() ? ['this process', 'Redis'] : ['this process'])('rate limits, counted in %s', (where) => {
  let app: TestApp;
  let redis: TestRedis | undefined;
  beforeAll(async () => {
    redis = where === 'Redis' ? await startRedis() : undefined;
    app = await startApp({ redisUrl: redis?.url, rateBudgets: { admin: BUDGET, device: BUDGET } });
  });
  afterAll(async () => {
    await app.close();
    await redis?.stop();
  });

  /** The statuses of consecutive calls. */
  const statuses = async (call: () => Promise<{ status: number }>): Promise<number[]> => {
    const answers: number[] = [];
    for (let n = 0; n < CALLS; n += 1) answers.push((await call()).status);
    return answers;
  };

  it('count requests that are refused for lack of a session, and are shared by all routes of a class', async () => {
    expect(await statuses(() => app.anonymous.get(ALERTS))).toEqual(refusedThenLimited);
    const elsewhere = await app.anonymous.send('POST', '/api/v1/admin/users', {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(elsewhere.status).toBe(429);
    expect(Number(elsewhere.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await app.anonymous.get('/api/v1/auth/tenant')).status).not.toBe(429);
  });

  it('give each SCIM client as many requests as the operator allows', async () => {
    const provisioned = await startApp({ scimRateLimit: BUDGET, redisUrl: redis?.url });
    const acme = await provisioned.newTenant();
    const [one, other] = [
      await scimAs(provisioned, await newScimClient(acme)),
      await scimAs(provisioned, await newScimClient(acme)),
    ];
    expect(await statuses(() => one.get('/scim/v2/Users'))).toEqual([
      ...Array<number>(BUDGET).fill(200),
      ...Array<number>(CALLS - BUDGET).fill(429),
    ]);
    expect((await other.get('/scim/v2/Users')).status).toBe(200);
    await provisioned.close();
  });

  it('give each administrator a budget of their own behind one address, whatever sessions they have', async () => {
    const office = await startApp({
      adminRateLimit: 5,
      addressRateLimit: BUDGET,
      redisUrl: redis?.url,
      trustedProxies: ['127.0.0.1'],
    });
    const acme = await office.newTenant();
    const { adminId, token } = await office.adminWithRole(acme, 'analyst');
    const home = { 'x-forwarded-for': '203.0.113.8' };
    const of = (bearer: string) => statuses(() => office.as(bearer, home).get(ALERTS));
    const limitedAfter = (count: number) => [
      ...Array<number>(count).fill(200),
      ...Array<number>(CALLS - count).fill(429),
    ];
    // A neighbour without a session uses up what the address has.
    expect(await statuses(() => office.anonymous.get(ALERTS, { headers: home }))).toEqual(refusedThenLimited);
    expect(await of(acme.token)).toEqual(limitedAfter(5));
    const first = await office.as(token, home).get(ALERTS);
    expect([first.headers.get('x-ratelimit-limit'), first.headers.get('x-ratelimit-remaining')]).toEqual(['5', '4']);
    // Another session of the same person shares the budget.
    const session = { tenantId: acme.tenantId, subjectId: adminId, subjectKind: 'admin', epoch: 0 } as const;
    const issued = { ...session, role: 'analyst', method: 'password', actor: system('test') } as const;
    expect(await of((await openSession(office.services, issued)).accessToken)).toEqual(limitedAfter(4));
    const north = await newOrganization(office);
    expect(await statuses(() => north.owner.get('/api/v1/org/tenants'))).toEqual(limitedAfter(5));
    await office.close();
  });

  it('count a token whose session has ended, and a forged one, for the address', async () => {
    const office = await startApp({
      adminRateLimit: 5,
      addressRateLimit: BUDGET,
      redisUrl: redis?.url,
      trustedProxies: ['127.0.0.1'],
    });
    const acme = await office.newTenant();
    const away = { 'x-forwarded-for': '203.0.113.9' };
    const ended = await office.adminWithRole(acme, 'analyst');
    await acme.admin.delete(`/api/v1/admin/admin-users/${ended.adminId}`);
    await office.settled();
    expect(await statuses(() => office.as(ended.token, away).get(ALERTS))).toEqual(refusedThenLimited);
    expect((await office.as(`${acme.token.slice(0, -20)}${'A'.repeat(20)}`, away).get(ALERTS)).status).toBe(429);
    expect((await office.as(acme.token, away).get(ALERTS)).status).toBe(200);
    await office.close();
  });

  it('are not reset by a port behind the forwarded address', async () => {
    const proxied = await startApp({ trustedProxies: ['127.0.0.1'], rateBudgets: { admin: BUDGET } });
    let port = 40_000;
    expect(
      await statuses(() => proxied.anonymous.get(ALERTS, { headers: { 'x-forwarded-for': `203.0.113.7:${port++}` } })),
    ).toEqual(refusedThenLimited);
    expect(
      await statuses(() =>
        proxied.anonymous.get(ALERTS, { headers: { 'x-forwarded-for': `[2001:db8::7]:${port++}` } }),
      ),
    ).toEqual(refusedThenLimited);
    await proxied.close();
  });

  it('are not reset by self-signed client certificates', async () => {
    const fresh = await startApp({ rateBudgets: { device: BUDGET } });
    const ask = () => {
      const { certificatePem: cert, privateKeyPem: key } = issueServerCertificate({
        hostNames: ['device.test'],
        ipAddresses: [],
        now: Date.now(),
        days: 1,
      });
      return new Promise<{ status: number }>((resolve, reject) => {
        request(`${fresh.tlsUrl}${POLICIES}`, { cert, key, rejectUnauthorized: false, agent: false }, (response) => {
          response.resume();
          resolve({ status: response.statusCode! });
        })
          .on('error', reject)
          .end();
      });
    };
    expect(await statuses(ask)).toEqual(refusedThenLimited);
    await fresh.close();
  });

  it('are not reset by a certificate of an unknown authority', async () => {
    const stranger = () =>
      app.anonymous.get(POLICIES, { headers: { 'x-client-cert': randomBytes(80).toString('hex') } });
    expect(await statuses(stranger)).toEqual(refusedThenLimited);
  });
});
