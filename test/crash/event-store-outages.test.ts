import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD } from '../dsl/app.ts';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import { unavailable } from '../fixtures/eventstoredb/faults.ts';
import { StandInCluster } from '../fixtures/eventstoredb/cluster.ts';
import { freePort, startService, type ServiceProcess } from './service-process.ts';

const PATIENTLY = { timeout: 60_000, interval: 50 };
const CLIENTS = 8;

/** The service beside a cluster of three whose nodes fail and return under traffic. */
describe('a service process whose EventStoreDB cluster fails and returns', () => {
  const dataDir = mkdtempSync('/var/tmp/castellan-outages-');
  let cluster: StandInCluster;
  let service: ServiceProcess;
  let authorization: string;

  beforeAll(async () => {
    cluster = await StandInCluster.start();
    service = await startService(dataDir, {
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      EVENTSTORE_URL: cluster.connectionString,
    });
    const setup = {
      email: 'first@acme.example',
      password: PASSWORD,
      displayName: 'First',
      licenseKey: licenseKey({ maxUsers: 1_000_000 }),
      externalBaseUrl: 'https://acme.example',
    };
    const { tenantId } = (await (await post('setup/complete', setup)).json()) as { tenantId: string };
    const { accessToken } = (await (
      await post('auth/login', { email: setup.email, password: PASSWORD, tenantId })
    ).json()) as { accessToken: string };
    authorization = `Bearer ${accessToken}`;
  });
  afterAll(async () => {
    await service?.stop();
    await cluster.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const post = (path: string, body: object) =>
    fetch(`${service.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
      body: JSON.stringify(body),
    });

  let written = 0;
  const createGroup = async (): Promise<number> => {
    const response = await post('admin/groups', { name: `Group ${(written += 1)}` });
    await response.arrayBuffer();
    return response.status;
  };

  /** Clients that write without a pause; returns the statuses that they saw. */
  function traffic(): { readonly seen: number[]; stop(): Promise<void> } {
    const seen: number[] = [];
    let goesOn = true;
    const client = async () => {
      // A process that ended refuses connections.
      while (goesOn) seen.push(await createGroup().catch(() => 0));
    };
    const clients = Array.from({ length: CLIENTS }, client);
    return {
      seen,
      async stop() {
        goesOn = false;
        await Promise.all(clients);
      },
    };
  }

  /** 202: written, but not readable yet. */
  const expectOrdinary = (seen: readonly number[]) =>
    expect(seen.filter((status) => ![201, 202, 503].includes(status))).toEqual([]);

  async function expectOutage(begin: () => Promise<void> | void, end: () => Promise<void> | void): Promise<void> {
    const { seen, stop } = traffic();
    await expect.poll(() => seen.filter((status) => status === 201).length, PATIENTLY).toBeGreaterThan(CLIENTS);
    await begin();
    const before = seen.length;
    await expect
      .poll(() => seen.slice(before).filter((status) => status === 503).length, PATIENTLY)
      .toBeGreaterThan(CLIENTS);
    const ready = await fetch(`${service.url}/ready`);
    expect({ status: ready.status, body: await ready.json() }).toEqual({
      status: 503,
      body: { status: 'unhealthy', ready: false, lagging: expect.any(Array) },
    });
    await end();
    const after = seen.length;
    await expect
      .poll(() => seen.slice(after).filter((status) => status === 201).length, PATIENTLY)
      .toBeGreaterThan(CLIENTS);
    await stop();
    expect(service.lastWords).toBeUndefined();
    expectOrdinary(seen);
  }

  it('survives the loss of the quorum, and works when it is back', () =>
    expectOutage(
      () => cluster.loseQuorum(),
      () => cluster.lead(1),
    ));

  it('survives the death of all nodes during calls, and works when they are back', () =>
    expectOutage(
      () => cluster.stopAll(),
      () => cluster.startAll(),
    ));

  it('survives failing gossip while calls are pending', () =>
    expectOutage(
      () => {
        for (const node of cluster.nodes) node.faults = () => unavailable();
      },
      () => cluster.lead(2),
    ));

  it('survives repeated resets of connections', async () => {
    const { seen, stop } = traffic();
    for (let count = 0; count < 10; count += 1) {
      const before = seen.length;
      await expect.poll(() => seen.length, PATIENTLY).toBeGreaterThan(before);
      for (const relay of cluster.relays) relay.reset();
      await sleep(20);
    }
    const after = seen.length;
    await expect
      .poll(() => seen.slice(after).filter((status) => status === 201).length, PATIENTLY)
      .toBeGreaterThan(CLIENTS);
    await stop();
    expect(service.lastWords).toBeUndefined();
    expectOrdinary(seen);
  });
});

describe('a service process whose EVENTSTORE_URL is wrong', () => {
  const dataDir = mkdtempSync('/var/tmp/castellan-wrong-url-');
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('ends with one sentence that names setting, host and remedy, and with no stack trace', async () => {
    const port = await freePort();
    const starting = startService(dataDir, {
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      EVENTSTORE_URL: `esdb://castellan:hunter2@127.0.0.1:${port}`,
    });
    const { message } = (await starting.catch((error: unknown) => error)) as Error;
    const words = message.replace('the service ended while starting: ', '').trim();
    expect(words).toBe(
      `castellan: EVENTSTORE_URL: nothing listens at 127.0.0.1:${port}: correct host and port, or start the server`,
    );
  });
});
