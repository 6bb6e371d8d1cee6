import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { rebuildInto, type RebuildParts } from './rebuild.ts';
import type { StreamSetAside } from './set-aside.ts';
import { tableShapeOf } from './projection.ts';
import { qualified, tableName } from './table.ts';
import type { ReplayProgress } from './table-replay.ts';

export interface RowDifference {
  readonly kind: 'changed' | 'missing' | 'added';
  readonly key: Readonly<Record<string, unknown>>;
  /** Columns in which the served row differs from the history. */
  readonly columns: readonly string[];
}

export interface ModelDifference {
  readonly model: string;
  readonly position: Position;
  readonly rows: number;
  readonly differences: readonly RowDifference[];
  /** Streams that the replay could not fold. */
  readonly setAside: readonly StreamSetAside[];
}

/** The model has no live table of its declared version: it is filling, or halted. */
export class NotServed extends Error {
  constructor(model: string) {
    super(`${model} has no live table of this version to compare; see \`castellan projections status\``);
    this.name = 'NotServed';
  }
}

/** Rows listed at most; further differences are dropped. */
const MOST = 1_000;

/** Rebuilds the model beside the served table, up to the same position, and returns every row that differs. */
export async function diffModel(
  parts: RebuildParts,
  model: AnyReadModel,
  onProgress?: (progress: ReplayProgress) => void,
): Promise<ModelDifference> {
  const schema = `diff_${randomBytes(6).toString('hex')}`;
  const client = await parts.pool.connect();
  try {
    const position = await keepServed(client, model);
    const { setAside } = await rebuildInto(parts, model, schema, { position }, onProgress, { isKept: false });
    const rebuilt = qualified(schema, tableName(model.name, model.version, 1));
    const {
      rows: [counted],
    } = await client.query<{ count: number }>(`select count(*)::int as count from ${rebuilt}`);
    const { rows } = await client.query<DifferenceRow>(comparison(model, rebuilt));
    return { model: model.name, position, rows: counted!.count, differences: rows.map(differenceOf(model)), setAside };
  } finally {
    await client.query('drop table if exists served').catch(() => undefined);
    client.release();
    await parts.pool.query(`drop schema if exists ${schema} cascade`);
  }
}

/** Copies the served table and its checkpoint in one snapshot, so that they match while the service goes on. */
async function keepServed(client: pg.PoolClient, model: AnyReadModel): Promise<Position> {
  await client.query('begin isolation level repeatable read');
  try {
    const {
      rows: [live],
    } = await client.query<{ position: string; generation: number }>(
      `select position::text, generation from cursors where name = $1 and version = $2 and state = 'live'`,
      [model.name, model.version],
    );
    if (!live) throw new NotServed(model.name);
    await client.query(
      `create temp table served as select * from ${qualified('public', tableName(model.name, model.version, live.generation))}`,
    );
    await client.query('commit');
    return BigInt(live.position);
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

interface DifferenceRow {
  served: Record<string, unknown> | null;
  rebuilt: Record<string, unknown> | null;
}

const comparison = (model: AnyReadModel, rebuilt: string): string => {
  const keys = ['tenant_id', ...tableShapeOf(model).key].map((name) => `"${name}"`).join(', ');
  return `select to_jsonb(s) as served, to_jsonb(r) as rebuilt from served s full join ${rebuilt} r using (${keys})
           where to_jsonb(s) is distinct from to_jsonb(r) order by ${keys} limit ${MOST}`;
};

const differenceOf =
  (model: AnyReadModel) =>
  ({ served, rebuilt }: DifferenceRow): RowDifference => {
    const keys = ['tenant_id', ...tableShapeOf(model).key];
    const row = (served ?? rebuilt)!;
    const key = Object.fromEntries(keys.map((name) => [name, row[name]]));
    if (!served) return { kind: 'missing', key, columns: [] };
    if (!rebuilt) return { kind: 'added', key, columns: [] };
    const columns = Object.keys(row).filter((name) => JSON.stringify(served[name]) !== JSON.stringify(rebuilt[name]));
    return { kind: 'changed', key, columns };
  };
