import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, startApp, type TestApp } from '../../dsl/app.ts';

describe('the API reference at /docs', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  it('has a policy that names no other host and upgrades no request, so that it works over plain HTTP under any host name', async () => {
    for (const path of ['/docs', '/docs/', '/docs/static/swagger-initializer.js', '/openapi.json', '/health']) {
      const { status, headers } = await app.anonymous.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect([
        path,
        status < 400,
        policy.includes('upgrade-insecure-requests'),
        /[a-z]\.[a-z]|https?:/.test(policy),
      ]).toEqual([path, true, false, false]);
    }
  });

  it('needs nothing that its policy forbids: every script and style is a separate file', async () => {
    const { text } = await app.anonymous.get('/docs/');
    const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) expect(new URL(address, `${app.url}/docs/`).origin).toBe(app.url);
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle="/);
    for (const address of addresses)
      expect([address, (await app.anonymous.get(new URL(address, `${app.url}/docs/`).pathname)).status]).toEqual([
        address,
        200,
      ]);
  });

  it('is sent to `/openapi.json` for its description, which is encoded once', async () => {
    for (const name of ['json', 'yaml']) {
      const elsewhere = await fetch(`${app.url}/docs/${name}`, { redirect: 'manual' });
      const to = new URL(elsewhere.headers.get('location')!, elsewhere.url).pathname;
      expect([elsewhere.status, to]).toEqual([302, '/openapi.json']);
    }
  });

  it('is sent to so many at once, whoever they are; others are told to come back', async () => {
    const many = await startApp();
    const port = Number(new URL(many.url).port);
    const idle = Array.from({ length: 40 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).pause();
      socket.write('GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n');
      return socket;
    });
    await expect.poll(async () => (await many.anonymous.get('/openapi.json')).status).toBe(503);
    expect((await many.anonymous.get('/live')).status).toBe(200);
    for (const socket of idle) socket.destroy();
    await expect.poll(async () => (await many.anonymous.get('/openapi.json')).status).toBe(200);
    await many.close();
  });

  it('is sent to an address so many times a minute, with all that belongs to it: it is large, and needs no credential', async () => {
    const limited = await startApp({ rateBudgets: { reference: 2, description: 1 } });
    const statuses: number[] = [];
    for (const path of [
      '/docs/',
      '/docs/static/index.css',
      '/openapi.json',
      '/openapi.json',
      '/docs/json',
      '/docs/static/x',
    ])
      statuses.push((await limited.anonymous.get(path)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
    expect((await limited.anonymous.get('/api/v1/admin/alerts')).status).toBe(401);
    await limited.close();
  });
});
