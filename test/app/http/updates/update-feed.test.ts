import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, testConfig, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { updatePublisher, type UpdatePublisher } from '../../../dsl/update-publisher.ts';

const BASE = '/api/v1/admin/updates';

type Respond = (response: ServerResponse) => void;

/** A feed whose next responses the test chooses. */
async function startFeed() {
  let respond: Respond = (response) => response.writeHead(404).end();
  let asked = 0;
  const server = createServer((_request, response) => ((asked += 1), respond(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`,
    set: (next: Respond) => void (respond = next),
    says: (content: unknown) => void (respond = (response) => response.end(JSON.stringify(content))),
    asked: () => asked,
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

const announcement = (over: object = {}) =>
  JSON.stringify({ type: 'castellan-update-feed', version: '0.2.0', releaseNotes: 'Faster.', ...over });

describe('the update feed', () => {
  let publisher: UpdatePublisher;
  let feed: Awaited<ReturnType<typeof startFeed>>;
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    publisher = updatePublisher();
    feed = await startFeed();
    const { updates } = testConfig('');
    app = await startApp({ updates: { ...updates, publicKey: publisher.publicKey, feedUrl: feed.url } });
    tenant = await app.newTenant();
  });
  afterAll(async () => {
    await app.close();
    await feed.close();
  });

  const signed = (document: string) => ({ document, signature: publisher.signed(document) });
  const check = () => tenant.admin.post(`${BASE}/check`);

  it('is asked by a check, which says what is available', async () => {
    feed.says(signed(announcement()));
    const { status, body } = await check();
    expect([status, body]).toEqual([
      200,
      {
        currentVersion: '0.1.0',
        availableVersion: '0.2.0',
        state: 'available',
        releaseNotes: 'Faster.',
        lastCheckedAt: expect.any(String),
        stagedVersion: null,
        rollbackVersion: null,
        download: null,
      },
    ]);
    expect((await tenant.admin.get(`${BASE}/info`)).body).toEqual(body);
  });

  it('that names the running version, or an older one, has nothing', async () => {
    for (const version of ['0.1.0', '0.0.1']) {
      feed.says(signed(announcement({ version })));
      expect((await check()).body).toMatchObject({ availableVersion: null, releaseNotes: null, state: 'idle' });
    }
  });

  it('is asked once by checks at the same time', async () => {
    const before = feed.asked();
    feed.set((response) => setTimeout(() => response.end(JSON.stringify(signed(announcement()))), 300));
    const checks = await Promise.all(Array.from({ length: 5 }, check));
    expect(checks.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(checks.map(({ body }) => body.state).sort()).toEqual(['available', ...Array(4).fill('checking')]);
    expect(feed.asked()).toBe(before + 1);
  });

  it('that is wrong is refused in fixed words, and changes nothing', async () => {
    feed.says(signed(announcement()));
    const before = (await check()).body;
    const forged = { ...signed(announcement()), document: announcement({ version: '9.9.9' }) };
    const cases: readonly (readonly [string, Respond])[] = [
      ['the feed did not respond with status 200', (response) => response.writeHead(500).end('secret stack')],
      ['the feed did not respond with status 200', (response) => response.writeHead(302, { location: '/x' }).end()],
      ['the feed did not respond properly', (response) => response.destroy()],
      ['the feed did not respond properly', endlessBody],
      ['the feed is not signed', (response) => response.end(announcement())],
      ['the feed is not signed', (response) => response.end('<html>')],
      ['the signature of the feed is wrong', (response) => response.end(JSON.stringify(forged))],
      ['the feed is not an announcement', (response) => response.end(JSON.stringify(signed('{"version":"9.9.9"}')))],
      [
        'the feed names no version',
        (response) => response.end(JSON.stringify(signed(announcement({ version: 'newest' })))),
      ],
      [
        'the announcement has expired',
        (response) => response.end(JSON.stringify(signed(announcement({ expiresAt: '2020-01-01T00:00:00Z' })))),
      ],
    ];
    for (const [reason, respond] of cases) {
      feed.set(respond);
      const { status, headers, body } = await check();
      expect([status, body.code, body.error]).toEqual([
        503,
        'update_feed_unavailable',
        `the update feed cannot be used: ${reason}`,
      ]);
      expect(headers.get('retry-after')).not.toBeNull();
      expect((await tenant.admin.get(`${BASE}/info`)).body).toEqual(before);
    }
  });

  it('is not needed: without one, a check returns what is known', async () => {
    const without = await startApp();
    const { admin } = await without.newTenant();
    const { status, body } = await admin.post(`${BASE}/check`);
    expect([status, body.state, body.lastCheckedAt]).toEqual([200, 'idle', null]);
    await without.close();
  });
});

function endlessBody(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 32)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
