import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
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
