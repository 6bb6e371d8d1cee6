import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE } from './template.ts';

export interface FreshDatabase {
  /** Connects as the superuser, to this database. */
  readonly config: pg.ClientConfig;
  readonly name: string;
  /** Throws out whoever is still connected. */
  drop(): Promise<void>;
}

/** A database of its own for a test file, migrated. `empty` leaves out everything of ours. */
export async function freshDatabase(options: { readonly empty?: boolean } = {}): Promise<FreshDatabase> {
  const server = inject('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(server, `create database ${name} template ${options.empty ? 'template0' : TEMPLATE} strategy wal_log`);
  // What may be done to a database as a whole is not copied from its template.
  if (!options.empty) await administer(server, `grant create, temporary on database ${name} to castellan_projector`);
  return {
    config: { ...server, database: name },
    name,
    drop: () => administer(server, `drop database if exists ${name} with (force)`),
  };
}

async function administer(server: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
