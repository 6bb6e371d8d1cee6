import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { conflict, FailureError, invalid } from '../kernel/failure.ts';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore } from '../eventstore/port.ts';
import { Cursors } from './cursors.ts';
import { fill, type FillProgress } from './filler.ts';
import { shapeOf } from './projection.ts';
import type { Projector } from './projector.ts';
import { createBareTable, createIndexes, createTable, serveTable, tableName, qualified } from './table.ts';

export interface RebuildParts {
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly pool: pg.Pool;
}

export interface AsOf {
  readonly position?: Position;
  /** Epoch milliseconds, inclusive. */
  readonly time?: number;
}

/**
 * Builds another generation of a live model beside the one that is served, and serves it once it has caught up. The
 * service may run meanwhile: its lane goes on with the old generation until the switch, and then takes the new one.
 */
export async function rebuildLive(
  { pool }: RebuildParts,
  projector: Projector,
  model: AnyReadModel,
  onProgress: (progress: FillProgress) => void,
): Promise<void> {
  const { name, version, lane } = model;
  const generation =
    1 +
    Math.max(
      0,
      ...(await projector.cursors.all())
        .filter((cursor) => cursor.name === name && cursor.version === version)
        .map((cursor) => cursor.generation),
    );
  const table = tableName(name, version, generation);
  await projector.cursors.ensure(
    { name, version, generation, lane, kind: 'model', state: 'filling', position: 0n },
    async (client) => {
      await client.query(createTable(shapeOf(model), table));
    },
  );
  // An owner of its own: a service in this very process must not take the lease for its own either.
  const cursors = new Cursors(pool, randomUUID());
  const mine = (await cursors.acquire([{ name, version }], ['filling'], true)).find(
    (cursor) => cursor.generation === generation,
  );
  if (!mine) throw new FailureError(conflict(`another rebuild of ${name} is under way`));
  await projector.fillCursor(mine, { onProgress });
  await dropRetired(pool, name);
}

/** Tables of generations that nothing serves or feeds any more. */
async function dropRetired(pool: pg.Pool, name: string): Promise<void> {
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

/** Forensics: the model as it stood, in a schema of its own beside the live tables. Nothing follows the feed there. */
export async function rebuildInto(
  parts: RebuildParts,
  model: AnyReadModel,
  schema: string,
  asOf: AsOf,
  onProgress: (progress: FillProgress) => void = () => undefined,
): Promise<Position> {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(schema))
    throw new FailureError(invalid('--into', 'a schema is named in lower-case letters, digits and underscores'));
  const table = tableName(model.name, model.version, 1);
  await transaction(parts.pool, async (client) => {
    await client.query(`create schema if not exists ${schema}`);
    await client.query(`grant usage on schema ${schema} to castellan_reads`);
    await client.query(`drop table if exists ${qualified(schema, table)} cascade`);
    await client.query(createBareTable(shapeOf(model), table, schema));
    await client.query(serveTable(model.name, table, schema));
  });
  const position = await fill(parts, { model, generation: 1, schema, from: 0n, empty: true, until: asOf, onProgress });
  for (const index of createIndexes(shapeOf(model), table, schema)) await parts.pool.query(index);
  return position;
}
