import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { USER_PASSWORD } from './password-server.ts';
import { freePort } from './free-port.ts';
import { findSystemPostgres, programFolder, runProgram, startProgram } from './system-program.ts';

/**
 * A cluster of the PostgreSQL that this machine has installed, which requires a password from all users but its
 * superuser.
 */
export interface SystemPostgres {
  readonly port: number;
  url(user: string, database: string): string;
  admin(database: string, sql: string): Promise<Record<string, unknown>[]>;
  /** pg_dump of one database, as an operator would run it. */
  dump(database: string, ...options: string[]): string;
  /** The output of psql for a script, with any outcome. */
  restore(database: string, script: string, options?: { readonly onError: 'stop' | 'go-on' }): string;
  stop(): Promise<void>;
}

/** Its log output is not read while `psql` runs; a full pipe would block the server. */
const QUIET = ['-c', 'log_min_messages=panic', '-c', 'log_min_error_statement=panic'];

export async function startSystemPostgres(): Promise<SystemPostgres> {
  const programs = findSystemPostgres()!;
  const folder = programFolder('system-postgres');
  const port = await freePort();
  const data = join(folder, 'data');
  runProgram(`${programs}/initdb`, [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  writeFileSync(
    join(data, 'pg_hba.conf'),
    'local all postgres trust\nhost all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
  );
  const running = await startProgram(
    `${programs}/postgres`,
    [
      '-D',
      data,
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      `port=${port}`,
      '-c',
      `unix_socket_directories=${folder}`,
      '-c',
      'fsync=off',
      ...QUIET,
    ],
    port,
  );
  const admin = async (database: string, sql: string) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database });
    await client.connect();
    try {
      const answered = await client.query<Record<string, unknown>>(sql);
      return Array.isArray(answered) ? [] : answered.rows;
    } finally {
      await client.end();
    }
  };
  for (let tries = 0; ; tries += 1) {
    const failure = await admin('postgres', 'select 1').then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!failure) break;
    if (tries === 100) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const at = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  return {
    port,
    url: (user, database) => `postgresql://${user}:${encodeURIComponent(USER_PASSWORD)}@127.0.0.1:${port}/${database}`,
    admin,
    dump: (database, ...options) => runProgram(`${programs}/pg_dump`, [...at, ...options, database]),
    restore: (database, script, { onError } = { onError: 'stop' }) =>
      runProgram(
        `${programs}/psql`,
        [...at, '-q', '-X', '-v', `ON_ERROR_STOP=${onError === 'stop' ? 1 : 0}`, '-d', database],
        script,
      ),
    stop: async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
