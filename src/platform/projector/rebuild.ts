import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { conflict, FailureError, invalid } from '../kernel/failure.ts';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore } from '../eventstore/port.ts';
import { Checkpoints, LeaseLost } from './checkpoints.ts';
import { replayIntoTable, type ReplayProgress } from './table-replay.ts';
import { tableShapeOf } from './projection.ts';
import type { Projector } from './projector.ts';
import { dropRetired } from './retired-versions.ts';
import { SetAside, type StreamSetAside } from './set-aside.ts';
import {
  createBareTable,
  createIndexes,
  createPassingTable,
  createTable,
  qualified,
  serveTable,
  tableName,
} from './table.ts';

export interface RebuildParts {
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly pool: pg.Pool;
  /** The log does not match the tables, which are brought to it. */
  readonly isRestore?: boolean;
}

export interface AsOf {
  readonly position?: Position;
  /** Epoch milliseconds, inclusive. */
  readonly time?: number;
}

/**
 * Builds another generation of a live model beside the served one, and serves it once it has caught up. The service
 * may run meanwhile: its lane continues the old generation until the switch, then takes the new one. If it fails,
 * nothing of it is left. Returns the streams that are parked in the new generation.
 */
export async function rebuildLive(
  { pool, isRestore = false }: RebuildParts,
  projector: Projector,
  model: AnyReadModel,
  onProgress: (progress: ReplayProgress) => void,
): Promise<readonly StreamSetAside[]> {
  const { name, version, lane } = model;
  await projector.checkpoints.retireLeftovers(model);
  const generation =
    1 +
    Math.max(
      0,
      ...(await projector.checkpoints.all())
        .filter((checkpoint) => checkpoint.name === name && checkpoint.version === version)
        .map((checkpoint) => checkpoint.generation),
    );
  const table = tableName(name, version, generation);
  await projector.checkpoints.ensure(
    { name, version, generation, lane, kind: 'model', state: 'filling', position: 0n },
    async (client) => {
      await client.query(createTable(tableShapeOf(model), table));
    },
  );
  // A separate owner, so that a service in this process cannot take the lease either.
  const checkpoints = new Checkpoints(pool, randomUUID());
  const mine = (await checkpoints.acquire([{ name, version }], ['filling'], true)).find(
    (checkpoint) => checkpoint.generation === generation,
  );
  const otherRebuild = new FailureError(conflict('command_refused', `another rebuild of ${name} is in progress`));
  if (!mine) throw otherRebuild;
  try {
    return await projector.replayCheckpoint(mine, { onProgress, isRestore });
  } catch (error) {
    await checkpoints.abandon(mine);
    throw error instanceof LeaseLost ? otherRebuild : error;
  } finally {
    await dropRetired(pool, name);
  }
}

/** Comment on the schemas that `rebuildInto` creates. It writes to no other schema. */
const REBUILD_SCHEMA = 'castellan: rebuilt read models';

/** Creates the schema. Throws `FailureError` if it exists and is not one of a rebuild: its tables may be live ones. */
async function openRebuildSchema(client: pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description(oid, 'pg_namespace') as comment from pg_namespace where nspname = $1`,
    [schema],
  );
  if (rows[0]?.comment === REBUILD_SCHEMA) return;
  if (rows[0])
    throw new FailureError(
      invalid('--into', `the schema ${schema} exists and was not created by a rebuild: choose another name`),
    );
  await client.query(`create schema ${schema}`);
  await client.query(`comment on schema ${schema} is '${REBUILD_SCHEMA}'`);
}

/** Those of the models of which `rebuildInto` would replace a table in this schema. */
export async function rebuiltAlready(
  pool: pg.Pool,
  schema: string,
  models: readonly AnyReadModel[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and obj_description(n.oid, 'pg_namespace') = $2 and c.relname = any($3) order by 1`,
    [schema, REBUILD_SCHEMA, models.map(({ name }) => name)],
  );
  return rows.map(({ name }) => name);
}

/**
 * For forensics: rebuilds the model as of a position or time, in a schema of its own beside the live tables. It is
 * not updated later. Unless `isKept`, the caller drops the schema soon: the table has neither indexes nor a view, nobody
 * else may read it, and it is not written to the write-ahead log. Returns the position that it reached, and the streams
 * that could not be folded.
 */
export async function rebuildInto(
  parts: RebuildParts,
  model: AnyReadModel,
  schema: string,
  asOf: AsOf,
  onProgress: (progress: ReplayProgress) => void = () => undefined,
  { isKept = true } = {},
): Promise<{ readonly position: Position; readonly setAside: readonly StreamSetAside[] }> {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(schema))
    throw new FailureError(
      invalid(
        '--into',
        'must begin with a lower-case letter and consist of at most 41 lower-case letters, digits and underscores',
      ),
    );
  const table = tableName(model.name, model.version, 1);
  await transaction(parts.pool, async (client) => {
    if (!isKept) {
      await client.query(`create schema ${schema}; ${createPassingTable(tableShapeOf(model), table, schema)}`);
      return;
    }
    await openRebuildSchema(client, schema);
    await client.query(`grant usage on schema ${schema} to castellan_reads`);
    await client.query(`drop table if exists ${qualified(schema, table)} cascade`);
    await client.query(createBareTable(tableShapeOf(model), table, schema));
    await client.query(serveTable(model.name, table, schema));
  });
  const aside = new SetAside(model.name, { mayLack: () => true });
  const position = await replayIntoTable(parts, {
    model,
    aside,
    generation: 1,
    schema,
    from: 0n,
    empty: true,
    until: asOf,
    onProgress,
  });
  if (isKept) for (const index of createIndexes(tableShapeOf(model), table, schema)) await parts.pool.query(index);
  return { position, setAside: aside.streams };
}
