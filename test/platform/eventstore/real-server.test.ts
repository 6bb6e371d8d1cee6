import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { GenericContainer } from 'testcontainers';
import { afterAll, beforeAll, describe } from 'vitest';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { describeEventStoreContract } from '../../contracts/event-store.contract.ts';

const IMAGE = 'kurrentplatform/kurrentdb:26.0.3';
const PORT = 2113;

const given = process.env['EVENTSTORE_TEST_URL'];
const docker = process.env['DOCKER_HOST'] !== undefined || existsSync('/var/run/docker.sock');
const skipped = given === undefined && !docker;
const where = given === undefined ? `the image ${IMAGE}` : 'EVENTSTORE_TEST_URL';

/** The same contract on a real server if one is available; everything else about this adapter is tested without one. */
describe.skipIf(skipped)(
  `on a real server${skipped ? ' (skipped: neither EVENTSTORE_TEST_URL nor Docker is here)' : `: ${where}`}`,
  () => {
    let url = given ?? '';
    let stop = async (): Promise<void> => undefined;

    beforeAll(async () => {
      if (given !== undefined) return;
      const container = await new GenericContainer(IMAGE)
        .withEnvironment({ KURRENTDB_INSECURE: 'true', KURRENTDB_CLUSTER_SIZE: '1', KURRENTDB_RUN_PROJECTIONS: 'None' })
        .withExposedPorts(PORT)
        .start();
      stop = async () => void (await container.stop());
      url = `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`;
    }, 300_000);
    afterAll(() => stop());

    describeEventStoreContract('EventStoreDB', async () => {
      const open = () => new EventStoreDbEventStore(url);
      const store = open();
      // A node that has just started accepts no appends until it has elected itself.
      for (let tries = 0; tries < 30 && !(await isReady(store)); tries += 1) await sleep(1_000);
      return { store, reopen: async () => open(), close: () => store.close() };
    });
  },
);

const isReady = (store: EventStoreDbEventStore): Promise<boolean> =>
  store.ping().then(
    () => true,
    () => false,
  );
