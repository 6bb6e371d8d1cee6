import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { loginsOf, type DatabaseConfig } from '../../src/platform/database/logins.ts';
import { TEMPLATE } from './template.ts';

export interface FreshDatabase {
  /**
   * Connects as the superuser, to this database. All databases of a run share the logins of the template that they are
   * copies of.
   */
  readonly config: DatabaseConfig;
  readonly name: string;
  /** Closes any remaining connections. */
  drop(): Promise<void>;
}

/** A separate, migrated database for a test file. `empty` omits everything of the application. */
export async function freshDatabase(
  options: { readonly empty?: boolean; readonly template?: string } = {},
): Promise<FreshDatabase> {
  const server = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  // This server is not durable, so the checkpoints that copying files needs are cheap.
  await administer(
    server,
    `create database ${name} template ${options.empty ? 'template0' : (options.template ?? TEMPLATE)} strategy file_copy`,
  );
  // Privileges on a database as a whole are not copied from its template.
  if (!options.empty) await administer(server, `grant create, temporary on database ${name} to castellan_projector`);
  return {
    config: { ...server, database: name, ...(options.empty ? {} : { logins: loginsOf(TEMPLATE) }) },
    name,
    drop: async () => {
      await administer(server, GOODBYES, [name]);
      await administer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/**
 * A pool's end does not wait until the server has processed it: a forced disconnect in between would look like a
 * failure.
 */
const GOODBYES = `
  do $$ begin
    for attempt in 1 .. 50 loop
      exit when not exists (select from pg_stat_activity where datname = %L);
      perform pg_sleep(0.01), pg_stat_clear_snapshot();
    end loop;
  end $$`;

export async function administer(server: pg.ClientConfig, sql: string, values: readonly string[] = []): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await client.query(values.reduce((text, value) => text.replace('%L', pg.escapeLiteral(value)), sql));
  } finally {
    await client.end();
  }
}
