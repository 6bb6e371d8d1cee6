import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDatabase } from '../../../src/app/compose/prepare-database.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { startSystemPostgres, type SystemPostgres } from '../../dsl/system-postgres.ts';
import { freePort } from '../../dsl/free-port.ts';
import { findPgBouncer, findSystemPostgres, programFolder, startProgram } from '../../dsl/system-program.ts';

const pgbouncer = findSystemPostgres() && findPgBouncer();

describe.skipIf(!pgbouncer)(
  `behind PgBouncer${pgbouncer ? '' : ' (skipped: pgbouncer and postgresql of Debian are not installed)'}`,
  () => {
    let server: SystemPostgres;
    beforeAll(async () => {
      server = await startSystemPostgres();
      await server.admin('postgres', 'create database pooled');
    });
    afterAll(() => server.stop());

    const behindPooler = async (settings: string, work: (url: string) => Promise<void>) => {
      const folder = programFolder('pgbouncer');
      const port = await freePort();
      writeFileSync(join(folder, 'users.txt'), '"postgres" ""\n');
      writeFileSync(
        join(folder, 'pgbouncer.ini'),
        `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=${port}\nunix_socket_dir=\nauth_type=trust\nauth_file=${folder}/users.txt\n${settings}\n`,
      );
      const pooler = await startProgram(pgbouncer!, [join(folder, 'pgbouncer.ini')], port);
      try {
        await work(`postgresql://postgres:x@127.0.0.1:${port}/pooled`);
      } finally {
        await pooler.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    };

    it.each([
      ['session pooling', 'pool_mode=session'],
      ['transaction pooling', 'pool_mode=transaction'],
      ['statement pooling', 'pool_mode=statement'],
      ['session pooling that drops the settings', 'pool_mode=session\nignore_startup_parameters=options'],
      ['transaction pooling that drops the settings', 'pool_mode=transaction\nignore_startup_parameters=options'],
    ])('is refused with a message, and nothing is written: %s', async (_, settings) => {
      await behindPooler(settings, async (url) => {
        const keys = { masterKey: randomBytes(32), otherMasterKey: undefined, auditKey: randomBytes(32) };
        const error = await prepareDatabase({ connectionString: url }, keys).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(ConfigError);
        expect((error as Error).message).toMatch(
          /^DATABASE_URL leads to a connection pooler .* connect to PostgreSQL directly/,
        );
      });
      expect(
        await server.admin('pooled', `select nspname from pg_namespace where nspname in ('migrations', 'jobs')`),
      ).toEqual([]);
      expect(await server.admin('pooled', `select rolname from pg_roles where rolname like 'castellan%'`)).toEqual([]);
    });
  },
);
