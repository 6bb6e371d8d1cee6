import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { existsSync, readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { UpdateDownloads } from '../../../../src/contexts/updates/update-downloads.ts';
import { softwareUpdate, softwareUpdateStream } from '../../../../src/contexts/updates/domain/software-update.ts';
import { downloadNamedBy } from '../../../../src/platform/outbound/destinations.ts';
import { startApp, testConfig, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { updatePublisher, type UpdatePublisher } from '../../../dsl/update-publisher.ts';

const BASE = '/api/v1/admin/updates';
const MIB = 1024 * 1024;
const CONTENT = randomBytes(5 * MIB);
const VERSION = '0.2.0';
const sha256 = createHash('sha256').update(CONTENT).digest('hex');

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

/** Serves the feed, and a bundle whose response the test chooses. */
async function startFeed() {
  let [feed, bundle]: [unknown, Respond] = [{}, (response) => response.end(CONTENT)];
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.url === '/feed') return response.end(JSON.stringify(feed));
    asked += 1;
    return bundle(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    announce: (content: unknown) => void (feed = content),
    serve: (respond: Respond) => void (bundle = respond),
    asked: () => asked,
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

describe('downloading the announced bundle', () => {
  let publisher: UpdatePublisher;
  let feed: Awaited<ReturnType<typeof startFeed>>;
  let app: TestApp;
  let tenant: TestTenant;
  let downloads: UpdateDownloads;

  beforeAll(async () => {
    publisher = updatePublisher();
    feed = await startFeed();
  });
  beforeEach(async () => {
    const { updates } = testConfig('');
    const settings = { ...updates, publicKey: publisher.publicKey, feedUrl: `${feed.url}/feed` };
    app = await startApp({ updates: settings });
    tenant = await app.newTenant();
    const { services } = app;
    // The same as that of the job, with a smaller limit.
    downloads = new UpdateDownloads({
      executor: services.executor,
      aggregates: services.loader,
      announcements: services.updateAnnouncements,
      bundles: services.updateBundles,
      download: downloadNamedBy(testConfig(''), settings.feedUrl, { maxBytes: 8 * MIB, timeoutMs: 20_000 }),
      settings: { ...settings, downloadsAutomatically: true },
    });
    announce();
    feed.serve((response) => response.end(CONTENT));
    return () => app.close();
  });
  afterAll(() => feed.close());

  const storedPieces = (): string[] => {
    const folder = join(app.config.dataDir, 'objects', 'updates');
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  };
  function announce(over: Record<string, unknown> = {}, version = VERSION) {
    const bundle = {
      url: `${feed.url}/castellan.bundle`,
      sha256,
      signature: publisher.signature(version, CONTENT),
      ...over,
    };
    const document = JSON.stringify({ type: 'castellan-update-feed', version, bundle });
    feed.announce({ document, signature: publisher.signed(document) });
  }
  const info = async () => (await tenant.admin.get(`${BASE}/info`)).body;
  const stateNow = () => app.services.loader.load(softwareUpdate, softwareUpdateStream());
  const context = (isLastAttempt = true) => ({
    id: randomUUID(),
    attempt: 1,
    isLastAttempt,
    tenantId: undefined,
    correlationId: randomUUID(),
    signal: new AbortController().signal,
  });
  /** The job of the application itself does nothing here. */
  const begun = async (): Promise<string> => {
    vi.spyOn(app.services.updateDownloads, 'run').mockResolvedValue();
    await downloads.beginAutomatically();
    return (await stateNow()).download!.downloadId;
  };

  it('stages it, by request; a repetition changes nothing', async () => {
    expect((await tenant.admin.post(`${BASE}/download`)).status).toBe(202);
    await expect.poll(async () => (await info()).stagedVersion, { timeout: 20_000 }).toBe(VERSION);
    expect(await info()).toMatchObject({ state: 'staged', download: null });
    expect((await stateNow()).staged).toMatchObject({ sha256, bytes: CONTENT.length, isSigned: true });
    const again = await tenant.admin.post(`${BASE}/download`);
    expect([again.status, again.body.download]).toEqual([202, null]);
  });

  it.each<[string, string, Respond, Record<string, unknown>?]>([
    ['an endless response', 'the file is larger than 8 MiB', endless],
    [
      'a large announced length',
      'the file is larger than 8 MiB',
      (r) => r.writeHead(200, { 'content-length': 9 * MIB }).flushHeaders(),
    ],
    ['other bytes', 'the bundle does not have the announced digest', (r) => r.end(CONTENT.subarray(1))],
    [
      'a wrong signature',
      'the signature does not belong to this version and file',
      (r) => r.end(CONTENT),
      { signature: 'A'.repeat(86) + '==' },
    ],
    ['a missing file', 'the server responded with status 404', (r) => r.writeHead(404).end()],
    [
      'a compressed file',
      'the server compressed the file',
      (r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    ],
    [
      'a redirect to a metadata address',
      'the address of the bundle was refused: the address must start with https://',
      (r) => r.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    ],
    [
      'the same over TLS',
      'the address of the bundle was refused: the address is not public',
      (r) => r.writeHead(307, { location: 'https://169.254.169.254/latest' }).end(),
    ],
    [
      'a redirect to a private address',
      'the address of the bundle was refused: the address is not public',
      (r) => r.writeHead(301, { location: 'https://10.0.0.1/' }).end(),
    ],
    [
      'redirects without end',
      'the download was redirected too often',
      (r) => r.writeHead(302, { location: '/again' }).end(),
    ],
  ])('ends at once with %s', async (_fault, failure, respond, over = {}) => {
    announce(over);
    feed.serve(respond);
    const downloadId = await begun();
    await downloads.run(downloadId, context(false));
    expect((await stateNow()).download).toMatchObject({ hasEnded: true, failure });
    await app.settled();
    expect(await info()).toMatchObject({ stagedVersion: null, download: { state: 'failed', failure } });
    expect(storedPieces()).toEqual([]);
  });

  it.each<[string, Respond]>([
    ['5xx', (r) => r.writeHead(503).end()],
    [
      'a truncated response',
      (r) => (
        r.writeHead(200, { 'content-length': CONTENT.length }),
        r.write(CONTENT.subarray(0, MIB), () => r.destroy())
      ),
    ],
    ['a reset', (r) => void r.destroy()],
  ])('tries again after %s, and says in the end that it failed', async (_fault, respond) => {
    feed.serve(respond);
    const downloadId = await begun();
    await expect(downloads.run(downloadId, context(false))).rejects.toThrow('the bundle could not be downloaded');
    expect((await stateNow()).download).toMatchObject({ hasEnded: false });
    expect(storedPieces()).toEqual([]);
    await downloads.run(downloadId, context(true));
    expect((await stateNow()).download).toMatchObject({ failure: 'the bundle could not be downloaded' });
  });

  it('stages it once, however often the job runs', async () => {
    feed.serve((response, { url }) =>
      url === '/there' ? response.end(CONTENT) : response.writeHead(302, { location: '/there' }).end(),
    );
    const downloadId = await begun();
    await Promise.all([downloads.run(downloadId, context()), downloads.run(downloadId, context())]);
    await downloads.run(downloadId, context());
    const { staged, download } = await stateNow();
    expect([staged?.version, download]).toEqual([VERSION, null]);
    // Pieces of 4 MiB.
    expect(storedPieces()).toHaveLength(staged!.pieces);
  });

  it('is refused without a newer version, a bundle or a feed', async () => {
    const codes = async () => {
      const { status, body } = await tenant.admin.post(`${BASE}/download`);
      return [status, body.code];
    };
    announce({}, '0.1.0');
    expect(await codes()).toEqual([409, 'update_not_newer']);
    const document = JSON.stringify({ type: 'castellan-update-feed', version: VERSION });
    feed.announce({ document, signature: publisher.signed(document) });
    expect(await codes()).toEqual([409, 'update_without_bundle']);
    feed.announce({ document, signature: 'wrong' });
    expect(await codes()).toEqual([503, 'update_feed_unavailable']);
  });
});

function endless(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 32)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
