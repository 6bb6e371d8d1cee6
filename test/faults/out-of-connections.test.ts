import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { missing } from './harness/programs.ts';
import { timeoutMs } from './harness/rounds.ts';
import { sharedInstallation } from './harness/shared-installation.ts';
import { underWrites } from './harness/under-writes.ts';

const lacking = missing({ postgres: true });
/** PostgreSQL's default. */
const CONNECTIONS = 100;
const EXHAUSTED_MS = 6_000;

describe.skipIf(lacking)(`PostgreSQL has no connections left${lacking}`, () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.create({ settings: { max_connections: CONNECTIONS } });
  }, 60_000);
  afterAll(() => cluster?.destroy());
  const installation = sharedInstallation(() => ({
    cluster,
    nodes: [
      { name: 'api', role: 'api' as const },
      { name: 'projector', role: 'projector' as const },
      { name: 'worker', role: 'worker' as const },
    ],
  }));

  it(
    'loses nothing, responds to probes and recovers when other clients use every connection',
    { timeout: timeoutMs() },
    async () => {
      const { database } = installation();
      await underWrites(installation(), async () => {
        const others: pg.Client[] = [];
        try {
          await takeAll(cluster, database, others);
          await sleep(EXHAUSTED_MS);
        } finally {
          await Promise.all(others.map((client) => client.end().catch(() => undefined)));
        }
      });
    },
  );

  it('leaves connections for other clients after faults', { timeout: timeoutMs() }, async () => {
    const { database, proxy } = installation();
    await underWrites(installation(), async () => proxy.forsake());
    const client = new pg.Client({ connectionString: cluster.url(database), connectionTimeoutMillis: 5_000 });
    await client.connect();
    await client.end();
    expect((await cluster.backends('%')).length).toBeLessThan(CONNECTIONS);
  });
});

const ROUNDS = 4;

/** Takes every free connection, again and again, while the service's own are ended so that it needs new ones. */
async function takeAll(cluster: PostgresCluster, database: string, taken: pg.Client[]): Promise<void> {
  // Connected before all connections are used.
  const superuser = new pg.Client(cluster.superuser(database));
  await superuser.connect();
  for (let round = 0; round < ROUNDS; round += 1) {
    const attempts = Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({
        connectionString: cluster.url(database),
        application_name: 'somebody else',
        connectionTimeoutMillis: 5_000,
      });
      client.on('error', () => undefined);
      await client.connect().then(
        () => taken.push(client),
        () => client.end().catch(() => undefined),
      );
    });
    await Promise.all(attempts);
    await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'castellan%'`,
    );
  }
  await superuser.end();
}
