import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageAssets } from '../../../../src/app/http/login-page/login-page.ts';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';

const addressOf = (name: string) => `/login-assets/${name}`;

describe('the sign-in page', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  it('allows only its own files by content security policy', async () => {
    for (const path of ['/login', ...Object.keys(pageAssets).map(addressOf)]) {
      const { status, headers } = await app.anonymous.get(path);
      const policy = headers.get('content-security-policy')!.split('; ');
      expect([path, status]).toEqual([path, 200]);
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "connect-src 'self'",
          "form-action 'none'",
          "base-uri 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        'nosniff',
        'no-referrer',
      ]);
    }
  });

  it('contains no inline script or style, and names no other host', async () => {
    const { text } = await app.anonymous.get('/login');
    expect(text).not.toMatch(/<style|style=|\son\w+=|javascript:|https?:/);
    expect(text.match(/<script[^>]*>/g)).toEqual([expect.stringContaining(' src="/login-assets/main.js"')]);
    for (const name of Object.keys(pageAssets)) {
      const asset = (await app.anonymous.get(addressOf(name))).text.replaceAll('http://www.w3.org/2000/svg', '');
      expect([name, /https?:\/\/\w|innerHTML|insertAdjacentHTML|document\.write|eval\(/.exec(asset)?.[0]]).toEqual([
        name,
        undefined,
      ]);
    }
  });

  it('serves exactly the files that it uses', async () => {
    const used = new Set<string>();
    const texts = [(await app.anonymous.get('/login')).text];
    for (const name of Object.keys(pageAssets)) texts.push((await app.anonymous.get(addressOf(name))).text);
    for (const text of texts)
      for (const [, name] of text.matchAll(/(?:\/login-assets\/|from '\.\/)([\w.-]+)/g)) used.add(name!);
    expect([...used].sort()).toEqual(Object.keys(pageAssets).sort());
  });

  it('is where the address of the service leads', async () => {
    const { status, headers } = await app.anonymous.get('/');
    expect([status, headers.get('location')]).toEqual([302, '/login']);
  });

  it('is cached by browsers, which revalidate it each time', async () => {
    for (const path of ['/login', addressOf('main.js')]) {
      const { headers } = await app.anonymous.get(path);
      expect(headers.get('cache-control')).toBe('no-cache');
      const etag = headers.get('etag')!;
      const again = await app.anonymous.get(path, { headers: { 'if-none-match': etag } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
      expect((await app.anonymous.get(path, { headers: { 'if-none-match': '"another"' } })).status).toBe(200);
    }
  });

  it('serves only its own files', async () => {
    for (const name of [
      'page.html',
      'login-page.ts',
      '..%2Flogin-page.ts',
      '%2e%2e%2fserver.ts',
      '__proto__',
      'toString',
    ]) {
      expect([name, (await app.anonymous.get(addressOf(name))).status]).toEqual([name, 404]);
    }
  });
});
