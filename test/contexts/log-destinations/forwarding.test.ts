import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { afterEach, beforeAll, afterAll, describe, expect, it, vi } from 'vitest';
import { Forwarder } from '../../../src/contexts/log-destinations/forwarding/forwarder.ts';
import { systemClock, type Clock } from '../../../src/contexts/log-destinations/forwarding/clock.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import {
  accepted,
  failing,
  startElasticsearch,
  startHttpSink,
  startSplunk,
  startSyslog,
  type HttpRequestSeen,
} from '../../dsl/log-sinks.ts';
import { startS3 } from '../../dsl/s3-peer.ts';

const BASE = '/api/v1/admin/integrations/log-destinations';
const HOUR_MS = 3_600_000;

/** Sleeping takes no time, and advances the clock by what was slept. */
function fastClock(): Clock & { skip(milliseconds: number): void } {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    skip: (milliseconds) => void (ahead += milliseconds),
    async sleep(milliseconds, signal) {
      const began = Date.now();
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, Math.min(milliseconds, 10));
        signal.addEventListener('abort', done);
      });
      if (!signal.aborted) ahead += Math.max(0, milliseconds - (Date.now() - began));
    },
  };
}

describe('forwarding', () => {
  let app: TestApp;
  let tenant: TestTenant;
  const running: Forwarder[] = [];
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    await app.services.forwarder.stop();
  });
  afterAll(() => app.close());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()));
  });

  const start = (clock: Clock = fastClock(), pool: pg.Pool = app.services.database.projector): Forwarder => {
    const { services } = app;
    const forwarder = new Forwarder({ ...services, sinks: services.destinationSinks, pool, clock });
    forwarder.start();
    running.push(forwarder);
    return forwarder;
  };
  const add = async (of: TestTenant, type: string, config: object, over: object = {}): Promise<string> => {
    const { status, body } = await of.admin.post(BASE, { name: type, type, eventTypes: ['audit'], config, ...over });
    expect([status, body.error]).toEqual([201, undefined]);
    // The alert about it comes before whatever the test does.
    await app.settled();
    return body.id as string;
  };
  const rename = (name: string, of = tenant) => of.admin.put('/api/v1/admin/me', { displayName: name });
  const shown = async (id: string, of = tenant) => (await of.admin.get(`${BASE}/${id}`)).body;
  /** Names in the order in which they were first received. */
  const names = (lines: readonly string[]) =>
    [...lines.join('\n').matchAll(/displayName"?[:=]"([^"]*)"/g)].map(([, name]) => name!);
  const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 20 });
  const tenth = (prefix: string) => Array.from({ length: 10 }, (_, index) => `${prefix} ${index}`);
  const bodies = (received: readonly HttpRequestSeen[]) => received.map(({ body }) => body);

  it('waits an hour for a collector that returns 503, and loses and reorders nothing', async () => {
    tenant = await app.newTenant();
    const clock = fastClock();
    const peer = await startSplunk('hec-token');
    const begun = clock.now();
    const { received } = peer;
    const id = await add(tenant, 'splunk_hec', { url: peer.url, token: 'hec-token' });
    const takes = takingCollector();
    peer.answer((request, response) =>
      clock.now() - begun < HOUR_MS ? failing(503)(request, response) : takes(request, response),
    );
    for (const name of tenth('Hour')) await rename(name);
    start(clock);
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0, lagSeconds: 0 }));
    const taken = received.slice(received.findIndex(({ path }) => path.includes('/ack')) - 1);
    expect(names(bodies(taken))).toEqual(tenth('Hour'));
    // Doubling from a second to a minute: about seventy attempts in an hour, not thousands.
    expect(received.length).toBeLessThan(110);
    await peer.close();
  });

  it('sends again what a server accepted and dropped', async () => {
    tenant = await app.newTenant();
    const peer = await startSyslog();
    peer.behave('resets');
    const id = await add(tenant, 'syslog', { host: '127.0.0.1', port: peer.port, protocol: 'tcp' }, { format: 'json' });
    for (const name of tenth('Drop')) await rename(name);
    start();
    await until(async () =>
      expect(await shown(id)).toMatchObject({ lastError: 'the destination closed the connection', lagEvents: 11 }),
    );
    peer.behave('reads');
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    expect(names(peer.received)).toEqual(tenth('Drop'));
    await peer.close();
  });

  it('lets no destination that hangs delay another tenant', async () => {
    tenant = await app.newTenant();
    const other = await app.newTenant();
    const [hanging, working] = [await startSyslog(), await startSyslog()];
    hanging.behave('hangs');
    const tcp = (port: number) => ({ host: '127.0.0.1', port, protocol: 'tcp' });
    const stuck = await add(tenant, 'syslog', tcp(hanging.port), { format: 'json' });
    await add(other, 'syslog', tcp(working.port), { format: 'json' });
    const forwarder = start();
    for (const name of tenth('Beside')) await Promise.all([rename(name), rename(name, other)]);
    await until(() => expect(names(working.received)).toEqual(tenth('Beside')));
    expect(hanging.received).toEqual([]);
    expect(forwarder.lags!.find(({ destinationId }) => destinationId === stuck)!.events).toBe(11);
    await Promise.all([hanging.close(), working.close()]);
  });

  it('sends again, in order, after a process that ended between a delivery and its checkpoint', async () => {
    tenant = await app.newTenant();
    const peer = await startHttpSink();
    peer.answer(accepted);
    const id = await add(tenant, 'webhook', { url: peer.url });
    for (const name of tenth('Kill')) await rename(name);
    const dying = start(fastClock(), withoutCheckpoints(app.services.database.projector));
    await until(() => expect(names(bodies(peer.received))).toContain('Kill 9'));
    await dying.stop();
    expect((await shown(id)).lastDeliveryAt).toBeNull();
    peer.received.length = 0;
    start();
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    expect(names(bodies(peer.received))).toEqual(tenth('Kill'));
    await peer.close();
  });

  it('runs in one process of several, and moves to another one', async () => {
    tenant = await app.newTenant();
    const peer = await startHttpSink();
    const id = await add(tenant, 'webhook', { url: peer.url });
    const both = [start(), start()];
    await until(() => expect(both.filter(({ lags }) => lags !== undefined)).toHaveLength(1));
    for (const name of tenth('One')) await rename(name);
    await until(() => expect(names(bodies(peer.received))).toEqual(tenth('One')));
    // Its checkpoint has moved too: otherwise the other process would send the last record again.
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    const leader = both.find(({ lags }) => lags !== undefined)!;
    await leader.stop();
    await rename('After');
    await until(() => expect(names(bodies(peer.received))).toEqual([...tenth('One'), 'After']));
    await peer.close();
  });

  it('has open syslog batches confirmed when it stops, so that an orderly restart repeats nothing', async () => {
    tenant = await app.newTenant();
    const peer = await startSyslog();
    const id = await add(tenant, 'syslog', { host: '127.0.0.1', port: peer.port, protocol: 'tcp' }, { format: 'json' });
    // Time stands still, so that nothing is confirmed because the log is quiet.
    const still: Clock = { ...systemClock, sleep: (_milliseconds, signal) => aborted(signal) };
    const stopping = start(still);
    for (const name of tenth('Order')) await rename(name);
    await until(() => expect(names(peer.received)).toEqual(tenth('Order')));
    expect((await shown(id)).lastDeliveryAt).toBeNull();
    await stopping.stop();
    expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 });
    start();
    await rename('Restarted');
    await until(() => expect(names(peer.received)).toContain('Restarted'));
    expect(names(peer.received)).toEqual([...tenth('Order'), 'Restarted']);
    await peer.close();
  });

  it('stops within seconds beside a sink that does not confirm', async () => {
    tenant = await app.newTenant();
    const peer = await startSyslog();
    peer.behave('hangs');
    const id = await add(tenant, 'syslog', { host: '127.0.0.1', port: peer.port, protocol: 'tcp' }, { format: 'json' });
    const stopping = start({ ...systemClock, sleep: (_milliseconds, signal) => aborted(signal) });
    await rename('Unconfirmed');
    await until(() =>
      expect(stopping.lags?.find(({ destinationId }) => destinationId === id)?.events).toBeGreaterThan(0),
    );
    await stopping.stop();
    expect((await shown(id)).lastDeliveryAt).toBeNull();
    await peer.close();
  });

  it('does not send values of a person who was erased while they waited', async () => {
    tenant = await app.newTenant();
    const peer = await startHttpSink();
    peer.answer(failing(503));
    const id = await add(tenant, 'webhook', { url: peer.url });
    start();
    const email = 'ann.vanishing@acme.example';
    const { body } = await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'Ann Vanishing' });
    await until(() => expect(bodies(peer.received).join('')).toContain('Ann Vanishing'));
    expect((await tenant.admin.delete(`/api/v1/admin/users/${body.id}?erase=true`)).status).toBe(204);
    await app.settled();
    // An attempt that was under way had read the log before.
    await new Promise((resolve) => setTimeout(resolve, 200));
    peer.received.length = 0;
    peer.answer(accepted);
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    const sent = bodies(peer.received).join('');
    expect(sent).toContain('employee.erased');
    expect(sent).not.toMatch(/vanishing/i);
    await peer.close();
  });

  it('sends the past beside the present', async () => {
    tenant = await app.newTenant();
    const from = new Date().toISOString();
    for (const name of tenth('Past')) await rename(name);
    const peer = await startHttpSink();
    const id = await add(tenant, 'webhook', { url: peer.url });
    start();
    await rename('Present');
    await until(() => expect(names(bodies(peer.received))).toEqual(['Present']));
    peer.received.length = 0;
    const future = await tenant.admin.post(`${BASE}/${id}/backfill`, { from: '2100-01-01T00:00:00Z' });
    expect([future.status, future.body.fields[0].field]).toEqual([400, 'from']);
    const again = await app.reauthenticated(tenant.token);
    const requested = await again.post(`${BASE}/${id}/backfill`, { from });
    expect(requested.status).toBe(202);
    await until(async () => expect((await shown(id)).backfill).toMatchObject({ state: 'complete', lastError: null }));
    expect(names(bodies(peer.received))).toEqual([...tenth('Past'), 'Present']);
    expect((await shown(id)).backfill).toMatchObject({ id: requested.body.backfillId, from, to: null });
    await peer.close();
  });

  it('lists a record that is refused for good, goes on, and sends it again when asked', async () => {
    tenant = await app.newTenant();
    const peer = await startElasticsearch('es-key', 'castellan');
    peer.refuse((document) => (JSON.stringify(document).includes('Bad') ? 400 : undefined));
    const id = await add(tenant, 'elasticsearch', { url: peer.url, index: 'castellan', apiKey: 'es-key' });
    start();
    for (const name of ['Good', 'Bad', 'Better']) await rename(name);
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    const stored = () => names([...peer.documents.values()].map((document) => JSON.stringify(document)));
    expect(stored()).toEqual(['Good', 'Better']);
    const { body: listed } = await tenant.admin.get(`${BASE}/${id}/refused`);
    expect(listed).toMatchObject({ total: 1, records: [{ type: 'audit', reason: 'mapper_parsing_exception' }] });
    const { recordId } = listed.records[0];
    const stranger = randomUUID();
    const retry = () => tenant.admin.post(`${BASE}/${id}/refused/retry`, { recordIds: [recordId, stranger] });
    expect((await retry()).body).toEqual({ sent: 0, refused: 1, gone: 0, unknown: [stranger] });
    peer.refuse(() => undefined);
    expect((await retry()).body).toEqual({ sent: 1, refused: 0, gone: 0, unknown: [stranger] });
    expect((await retry()).body).toEqual({ sent: 0, refused: 0, gone: 0, unknown: [recordId, stranger] });
    expect(stored()).toEqual(['Good', 'Better', 'Bad']);
    expect((await tenant.admin.get(`${BASE}/${id}/refused`)).body.total).toBe(0);
    expect((await tenant.admin.delete(`${BASE}/${id}/refused/${recordId}`)).status).toBe(404);
    await peer.close();
  });

  it('stores every document once, however often records are sent', async () => {
    tenant = await app.newTenant();
    const peer = await startElasticsearch('es-key', 'castellan');
    const id = await add(tenant, 'elasticsearch', { url: peer.url, index: 'castellan', apiKey: 'es-key' });
    for (const name of tenth('Twice')) await rename(name);
    const dying = start(fastClock(), withoutCheckpoints(app.services.database.projector));
    await until(() => expect(peer.received.length).toBeGreaterThan(2));
    await dying.stop();
    start();
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    expect(names([...peer.documents.values()].map((one) => JSON.stringify(one)))).toEqual(tenth('Twice'));
    await peer.close();
  });

  it('writes an object for an hour after its end', async () => {
    tenant = await app.newTenant();
    const clock = { ...fastClock(), now: () => Date.now() + skipped };
    let skipped = 0;
    const bucket = {
      bucket: 'acme-logs',
      region: 'eu-central-1',
      accessKeyId: 'AKIATEST',
      secretAccessKey: 'hush+/hush',
    };
    const peer = await startS3(bucket);
    const id = await add(tenant, 's3', { ...bucket, endpoint: peer.url, prefix: 'logs' });
    for (const name of tenth('Hourly')) await rename(name);
    start(clock);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([peer.objects.size, (await shown(id)).status]).toEqual([0, 'unknown']);
    skipped = HOUR_MS + 120_000;
    await until(async () => expect(await shown(id)).toMatchObject({ status: 'healthy', lagEvents: 0 }));
    const keys = [...peer.objects.keys()];
    for (const key of keys)
      expect(key).toMatch(new RegExp(`^logs/${tenant.tenantId}/\\d{4}/\\d\\d/\\d\\d/\\d\\d/\\d{20}\\.log\\.gz$`));
    const lines = keys.sort().map((key) => gunzipSync(peer.objects.get(key)!).toString());
    expect(names(lines)).toEqual(tenth('Hourly'));
    expect(peer.refused).toEqual([]);
    await peer.close();
  });
});

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** A collector that takes everything and acknowledges at once. */
function takingCollector() {
  let next = 0;
  return ({ path, body }: HttpRequestSeen, response: Parameters<typeof accepted>[1]): void => {
    if (!path.includes('/ack')) return void response.end(JSON.stringify({ text: 'Success', code: 0, ackId: next++ }));
    const { acks } = JSON.parse(body) as { acks: number[] };
    response.end(JSON.stringify({ acks: Object.fromEntries(acks.map((ack) => [ack, true])) }));
  };
}

/** Loses every checkpoint, as a process does that ends after a delivery. */
function withoutCheckpoints(pool: pg.Pool): pg.Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name) as unknown;
      return (text: unknown, ...rest: unknown[]) =>
        typeof text === 'string' && text.includes('set position')
          ? Promise.reject(new Error('the connection was lost'))
          : (target.query as (...all: unknown[]) => unknown)(text, ...rest);
    },
  });
}
