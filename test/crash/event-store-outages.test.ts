import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { licensePublicKeyPem } from '../dsl/licenses.ts';
import { unavailable } from '../fixtures/eventstoredb/faults.ts';
import { StandInCluster } from '../fixtures/eventstoredb/cluster.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../fixtures/eventstoredb/restorable-node.ts';
import { GroupWriters } from './group-writers.ts';
import { freePort } from '../dsl/free-port.ts';
import { startService } from './service-process.ts';

/** The service beside a cluster of three whose nodes fail and return under traffic. */
describe('a service process whose EventStoreDB cluster fails and returns', () => {
  const dataDir = mkdtempSync('/var/tmp/castellan-outages-');
  let cluster: StandInCluster;
  let writers: GroupWriters;

  beforeAll(async () => {
    cluster = await StandInCluster.start();
    writers = await GroupWriters.start(dataDir, cluster.connectionString);
  });
  afterAll(async () => {
    await writers?.service.stop();
    await cluster.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('survives the loss of the quorum, and works when it is back', () =>
    writers.expectOutage(
      () => cluster.loseQuorum(),
      () => cluster.lead(1),
    ));

  it('survives the death of all nodes during calls, and works when they are back', () =>
    writers.expectOutage(
      () => cluster.stopAll(),
      () => cluster.startAll(),
    ));

  it('survives failing gossip while calls are pending', () =>
    writers.expectOutage(
      () => {
        for (const node of cluster.nodes) node.faults = () => unavailable();
      },
      () => cluster.lead(2),
    ));

  it('survives repeated resets of connections', async () => {
    const traffic = writers.traffic();
    const { seen } = traffic;
    for (let count = 0; count < 10; count += 1) {
      const before = seen.length;
      await expect.poll(() => seen.length, { timeout: 60_000, interval: 50 }).toBeGreaterThan(before);
      for (const relay of cluster.relays) relay.reset();
      await sleep(20);
    }
    await writers.untilSeen(traffic, 201, seen.length);
    await traffic.stop();
    writers.expectOrdinary(traffic);
  });
});

describe(`a service process whose node ends and starts again (${restorableNodes})`, () => {
  const dataDir = mkdtempSync('/var/tmp/castellan-outage-');
  let node: RestorableNode;
  let writers: GroupWriters;

  beforeAll(async () => {
    node = await startRestorableNode();
    writers = await GroupWriters.start(dataDir, node.connectionString);
  }, RESTORE_TIMEOUT_MS);
  afterAll(async () => {
    await writers?.service.stop();
    await node?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('loses nothing that it has acknowledged', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1)
      acknowledged.push(
        ...(await writers.expectOutage(
          () => node.stop(),
          () => node.start(),
        )),
      );
    await expect.poll(async () => missingOf(acknowledged, await writers.listed()), { timeout: 30_000 }).toBe(0);
    const listed = await writers.listed();
    expect(listed.length).toBe(new Set(listed).size);
  });
});

const missingOf = (expected: readonly string[], seen: readonly string[]): number => {
  const names = new Set(seen);
  return expected.filter((name) => !names.has(name)).length;
};

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
