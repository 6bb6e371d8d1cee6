import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseWithoutTls } from '../../../src/app/http/confidential-request.ts';
import { trustedProxies } from '../../../src/app/http/trusted-proxies.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { browser, enrollmentTokenOf } from '../../dsl/enrolled-device.ts';
import { p256, pemOf, requestOf } from '../../dsl/certificate-request.ts';

const ENROLL = '/api/v1/enroll/certificate';

describe('a response with a key', () => {
  const statusFor = async (remoteAddress: string, forwarded: string | undefined, devMode = false) => {
    const app = fastify();
    const services = { config: { devMode }, trustsProxy: trustedProxies(['10.0.0.0/8']) };
    app.get('/', (request, reply) => {
      try {
        refuseWithoutTls(request, services);
        return reply.send();
      } catch {
        return reply.status(403).send();
      }
    });
    const headers = forwarded === undefined ? {} : { 'x-forwarded-proto': forwarded };
    const { statusCode } = await app.inject({ url: '/', remoteAddress, headers });
    await app.close();
    return statusCode;
  };

  it.each([
    ['the same computer', '127.0.0.1', undefined, 200],
    ['the same computer, over IPv6', '::1', undefined, 200],
    ['another computer', '203.0.113.7', undefined, 403],
    ['another computer that claims TLS', '203.0.113.7', 'https', 403],
    ['a trusted proxy that ends TLS', '10.1.2.3', 'https', 200],
    ['a trusted proxy without TLS', '10.1.2.3', 'http', 403],
    ['a trusted proxy that says nothing', '10.1.2.3', undefined, 403],
    ['proxies of which one has no TLS', '10.1.2.3', 'https, http', 403],
  ])('over plain HTTP from %s', async (_who, address, forwarded, status) => {
    expect(await statusFor(address, forwarded)).toBe(status);
  });

  it('goes anywhere in development', async () => expect(await statusFor('203.0.113.7', undefined, true)).toBe(200));
});

describe('enrollment behind a trusted proxy', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp({ trustedProxies: ['127.0.0.1/32'], devMode: false });
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('needs TLS in front of the proxy, unless the device has made its own key', async () => {
    const enrollmentToken = await enrollmentTokenOf(acme);
    const enroll = (proto: string, over: object = {}) =>
      app.anonymous.post(ENROLL, browser({ enrollmentToken, ...over }), {
        headers: { 'x-tenant-id': acme.tenantId, 'x-forwarded-proto': proto },
      });
    const refused = await enroll('http');
    expect([refused.status, refused.body.code]).toEqual([403, 'tls_required']);
    const agent = await app.anonymous.post(
      '/api/v1/enroll/auto',
      { tenantId: acme.tenantId, username: 'kim', upn: 'kim@acme.example' },
      { headers: { 'x-tenant-id': acme.tenantId, 'x-forwarded-proto': 'http' } },
    );
    expect(agent.status).toBe(403);
    expect((await enroll('https')).status).toBe(200);
    const own = browser({ enrollmentToken: await enrollmentTokenOf(acme), csr: pemOf(requestOf(p256().privateKey)) });
    const headers = { 'x-tenant-id': acme.tenantId, 'x-forwarded-proto': 'http' };
    expect((await app.anonymous.post(ENROLL, own, { headers })).status).toBe(200);
  });

  it('refuses a body in a content coding, instead of misreading it', async () => {
    const headers = { 'x-tenant-id': acme.tenantId, 'content-encoding': 'gzip' };
    const { status, body } = await app.anonymous.post(ENROLL, browser({}), { headers });
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });
});
