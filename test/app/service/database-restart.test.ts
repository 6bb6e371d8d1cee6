import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { startService } from '../../crash/service-process.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { findRedis, startRedis } from '../../dsl/redis.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe.runIf(findRedis())('processes with their jobs in Redis', () => {
  it('survive lost connections and restarts of PostgreSQL, in every role', async () => {
    const dataDir = scratchFolder('restart');
    const redis = await startRedis();
    const start = () => startEmbeddedPostgres({ dataDir: `${dataDir}/db`, durable: false });
    let server = await start();
    const { host, port, user, password, database } = server.connection as {
      host: string;
      port: number;
      user: string;
      password?: string;
      database: string;
    };
    const env = {
      DATABASE_URL: `postgresql://${user}:${encodeURIComponent(password ?? '')}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      REDIS_URL: redis.url,
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      MASTER_KEY: randomBytes(32).toString('hex'),
      AUDIT_HMAC_KEY: randomBytes(32).toString('hex'),
    };
    const projector = await startService(dataDir, env, ['--role', 'projector']);
    const worker = await startService(dataDir, env, ['--role', 'worker']);
    const isReady = async () =>
      (
        await Promise.all(
          [projector, worker].map(({ url }) =>
            fetch(`${url}/ready`).then(
              ({ status }) => status,
              () => 0,
            ),
          ),
        )
      ).join();
    for (let round = 0; round < 5; round += 1) {
      const other = new pg.Client(server.connection);
      other.on('error', () => undefined);
      await other.connect();
      await other.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      );
      await other.end();
    }
    await server.stop();
    server = await start();
    await expect.poll(isReady, { timeout: 30_000, interval: 200 }).toBe('200,200');
    await Promise.all([projector.stop(), worker.stop()]);
    await server.stop();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 120_000);
});
