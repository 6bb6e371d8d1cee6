import type pg from 'pg';
import { qualified, tableName } from './table.ts';

/** Drops tables of generations that are neither served nor maintained. */
export async function dropRetired(pool: pg.Pool, name: string): Promise<void> {
  const { rows } = await pool.query<{ version: number; generation: number }>(
    `delete from cursors where name = $1 and state = 'retired' returning version, generation`,
    [name],
  );
  for (const { version, generation } of rows) {
    await pool.query(`drop table if exists ${qualified('public', tableName(name, version, generation))}`);
    await pool.query('delete from parked_events where name = $1 and version = $2 and generation = $3', [
      name,
      version,
      generation,
    ]);
  }
}
