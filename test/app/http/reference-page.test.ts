import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp } from '../../dsl/app.ts';

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

  it('gets the same octets as `/openapi.json`, in JSON only', async () => {
    const { text } = await app.anonymous.get('/openapi.json');
    expect((await app.anonymous.get('/docs/json')).text).toBe(text);
    const yaml = await fetch(`${app.url}/docs/yaml`, { redirect: 'manual' });
    expect([yaml.status, new URL(yaml.headers.get('location')!, yaml.url).pathname]).toEqual([302, '/docs/json']);
    expect((await app.anonymous.get('/docs/json')).headers.get('content-security-policy')).toBeTruthy();
  });
});
