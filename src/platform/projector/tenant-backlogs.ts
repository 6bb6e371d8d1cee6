import type pg from 'pg';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { LeaseLost, type Checkpoint } from './checkpoints.ts';
import { isSameCheckpoint } from './checkpoint-move.ts';

/**
 * A tenant whose events a reaction has set aside. Its events after `position`, up to the reaction's own checkpoint,
 * are not worked yet.
 */
export interface Backlog {
  readonly tenantId: TenantId;
  readonly position: Position;
  readonly failure: string | null;
}

/** A tenant's checkpoint, as far as the holder of the lease knows. */
type Standing = Pick<Backlog, 'tenantId' | 'position'>;

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;

/**
 * The table `tenant_backlogs`: checkpoints of single tenants behind the checkpoint of a reaction. Rows are written in
 * transactions that the reaction's lease fences, so that they never contradict that checkpoint.
 */
export class TenantBacklogs {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The backlogs of each of these cursors, oldest first. */
  async ofEach(cursors: readonly Key[]): Promise<Backlog[][]> {
    const { rows } = await this.#pool.query<Key & { tenant_id: TenantId; position: string; failure: string | null }>(
      `select name, version, generation, tenant_id, position::text, failure from tenant_backlogs
        where name = any($1) order by set_aside_at, tenant_id`,
      [cursors.map(({ name }) => name)],
    );
    return cursors.map((cursor) =>
      rows
        .filter((row) => isSameCheckpoint(row, cursor))
        .map((row) => ({ tenantId: row.tenant_id, position: BigInt(row.position), failure: row.failure })),
    );
  }

  async setAside(
    client: pg.PoolClient,
    { name, version, generation }: Key,
    tenants: ReadonlyMap<TenantId, Position>,
  ): Promise<void> {
    if (tenants.size === 0) return;
    await client.query(
      `insert into tenant_backlogs (name, version, generation, tenant_id, position)
       select $1, $2, $3, t.id, t.position from json_to_recordset($4::json) as t(id uuid, position bigint)`,
      [
        name,
        version,
        generation,
        JSON.stringify([...tenants].map(([id, position]) => ({ id, position: String(position) }))),
      ],
    );
  }

  /**
   * Moves the tenant's checkpoint. Clears its failure, unless the tenant failed again. Throws `LeaseLost` if the
   * checkpoint is not at `from`, for example after a crash of the database that undid the newest commits.
   */
  async move(
    client: pg.PoolClient,
    { name, version, generation }: Key,
    from: Standing,
    to: Position,
    hasFailed: boolean,
  ): Promise<void> {
    const { rowCount } = await client.query(
      `update tenant_backlogs set position = $6, failure = case when $7 then failure end
        where name = $1 and version = $2 and generation = $3 and tenant_id = $4 and position = $5`,
      [name, version, generation, from.tenantId, String(from.position), String(to), hasFailed],
    );
    if (rowCount !== 1) throw new LeaseLost();
  }

  /** The tenant rejoins the others. Throws `LeaseLost` as `move` does. */
  async remove(client: pg.PoolClient, { name, version, generation }: Key, from: Standing): Promise<void> {
    const { rowCount } = await client.query(
      'delete from tenant_backlogs where name = $1 and version = $2 and generation = $3 and tenant_id = $4 and position = $5',
      [name, version, generation, from.tenantId, String(from.position)],
    );
    if (rowCount !== 1) throw new LeaseLost();
  }

  /** Records why the tenant's events cannot be worked, for `/health` and `projections status`. */
  async blame({ name, version, generation }: Key, tenantId: TenantId, failure: string): Promise<void> {
    await this.#pool.query(
      'update tenant_backlogs set failure = $5 where name = $1 and version = $2 and generation = $3 and tenant_id = $4',
      [name, version, generation, tenantId, failure],
    );
  }

  /** Names of reactions that cannot work the events of a tenant. */
  async stuck(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(
      'select distinct name from tenant_backlogs where failure is not null order by name',
    );
    return rows.map(({ name }) => name);
  }

  /** The number of tenants that each reaction has set aside. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#pool.query<{ name: string; tenants: number }>(
      'select name, count(*)::int as tenants from tenant_backlogs group by name',
    );
    return new Map(rows.map(({ name, tenants }) => [name, tenants]));
  }

  /** Every backlog of every reaction that is not retired. */
  async all(): Promise<(Backlog & { name: string })[]> {
    const { rows } = await this.#pool.query<{
      name: string;
      tenant_id: TenantId;
      position: string;
      failure: string | null;
    }>(
      `select b.name, b.tenant_id, b.position::text, b.failure from tenant_backlogs b
         join cursors c on c.name = b.name and c.version = b.version and c.generation = b.generation and c.state <> 'retired'
        order by b.name, b.set_aside_at, b.tenant_id`,
    );
    return rows.map((row) => ({
      name: row.name,
      tenantId: row.tenant_id,
      position: BigInt(row.position),
      failure: row.failure,
    }));
  }
}
