import type pg from 'pg';
import { transaction } from '../../../platform/database/transaction.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { asTenantId, type TenantId } from '../../../platform/kernel/ids.ts';
import { ForwardingLost } from './forwarding-lease.ts';

export interface CheckpointKey {
  readonly tenantId: TenantId;
  readonly destinationId: string;
  /** The destination's id for its live checkpoint, otherwise the backfill's. */
  readonly checkpointId: string;
}

/** A range of the past. Times are epoch milliseconds, both included; without an end, `to` is infinity. */
export interface PastRange {
  readonly from: number;
  readonly to: number;
  readonly until: Position;
}

export interface ForwardingCheckpoint extends CheckpointKey {
  readonly position: Position;
  readonly lagEvents: number;
  readonly countedTo: Position;
  readonly range: PastRange | undefined;
}

export interface Moved {
  readonly from: Position;
  readonly to: Position;
  readonly records: number;
  readonly lagEvents: number;
  readonly countedTo: Position;
  readonly waitingSince: number | null;
}

export interface FailedDelivery {
  readonly reason: string;
  readonly lagEvents: number;
  readonly countedTo: Position;
  readonly waitingSince: number | null;
}

export interface RefusedRecord {
  readonly recordId: string;
  readonly recordType: string;
  readonly position: Position;
  readonly reason: string;
}

/** Records that a destination may have refused. One more, and its stream stops until the list has room. */
export const MAX_REFUSED = 10_000;

interface CheckpointRow {
  readonly tenant_id: string;
  readonly destination_id: string;
  readonly checkpoint_id: string;
  readonly position: string;
  readonly lag_events: number;
  readonly counted_to: string;
  readonly from_at: string | null;
  readonly to_at: string | null;
  readonly until_position: string | null;
}

const FENCE = `exists (select 1 from log_forwarding_lease where epoch = $4::bigint)`;
const KEY = `tenant_id = $1 and destination_id = $2 and checkpoint_id = $3`;
const timeOf = (milliseconds: number | null): string | null =>
  milliseconds === null || milliseconds === Number.POSITIVE_INFINITY ? null : new Date(milliseconds).toISOString();

/**
 * The checkpoints of all destinations, for the process that holds the lease. A write under an old epoch, or of a
 * checkpoint that is not where the caller left it, throws `ForwardingLost`. Commits do not wait for the disk: a crash of
 * the database can only move checkpoints back, and records are sent again.
 */
export class ForwardingCheckpoints {
  readonly #pool: pg.Pool;
  readonly #epoch: string;

  constructor(pool: pg.Pool, epoch: bigint) {
    this.#pool = pool;
    this.#epoch = String(epoch);
  }

  async all(): Promise<ForwardingCheckpoint[]> {
    const { rows } = await this.#pool.query<CheckpointRow>(
      `select tenant_id, destination_id, checkpoint_id, position::text, lag_events, counted_to::text, from_at, to_at, until_position::text
         from log_forwarding`,
    );
    return rows.map(checkpointOf);
  }

  /** Creates a checkpoint; one that exists stays as it is. Returns the one that counts. */
  async ensure(key: CheckpointKey, position: Position, range?: PastRange): Promise<ForwardingCheckpoint> {
    await this.#write(
      `insert into log_forwarding (tenant_id, destination_id, checkpoint_id, position, counted_to, from_at, to_at, until_position)
       select $1, $2, $3, $5, $5, $6, $7, $8 where ${FENCE} on conflict do nothing`,
      key,
      [String(position), timeOf(range?.from ?? null), timeOf(range?.to ?? null), range ? String(range.until) : null],
      { isRequired: false },
    );
    const { rows } = await this.#pool.query<CheckpointRow>(
      `select tenant_id, destination_id, checkpoint_id, position::text, lag_events, counted_to::text, from_at, to_at, until_position::text
         from log_forwarding where ${KEY}`,
      [key.tenantId, key.destinationId, key.checkpointId],
    );
    if (!rows[0]) throw new ForwardingLost();
    return checkpointOf(rows[0]);
  }

  async remove(key: CheckpointKey): Promise<void> {
    await this.#write(`delete from log_forwarding where ${KEY} and ${FENCE}`, key, [], { isRequired: false });
  }

  /** Everything of a destination that no longer exists. */
  async forget({ tenantId, destinationId }: Pick<CheckpointKey, 'tenantId' | 'destinationId'>): Promise<void> {
    await this.#pool.query('delete from log_refused_records where tenant_id = $1 and destination_id = $2', [
      tenantId,
      destinationId,
    ]);
    await this.#pool.query('delete from log_forwarding where tenant_id = $1 and destination_id = $2', [
      tenantId,
      destinationId,
    ]);
  }

  /** After the sink's acknowledgement. */
  async move(key: CheckpointKey, { from, to, records, lagEvents, countedTo, waitingSince }: Moved): Promise<void> {
    await this.#write(
      `update log_forwarding set position = $6, delivered = delivered + $7, lag_events = $8, counted_to = $9,
              waiting_since = $10, status = case when $7 > 0 then 'healthy' else status end,
              last_error = case when $7 > 0 then null else last_error end,
              last_delivery_at = case when $7 > 0 then now() else last_delivery_at end
        where ${KEY} and ${FENCE} and position = $5`,
      key,
      [String(from), String(to), records, lagEvents, String(countedTo), timeOf(waitingSince)],
    );
  }

  async fail(key: CheckpointKey, { reason, lagEvents, countedTo, waitingSince }: FailedDelivery): Promise<void> {
    await this.#write(
      `update log_forwarding set status = 'failing', last_error = $5, lag_events = $6, counted_to = $7, waiting_since = $8
        where ${KEY} and ${FENCE}`,
      key,
      [reason, lagEvents, String(countedTo), timeOf(waitingSince)],
    );
  }

  /** Lists records as refused. Returns false, and lists none, if the destination has no room for them. */
  async refuse(key: CheckpointKey, refused: readonly RefusedRecord[]): Promise<boolean> {
    return transaction(this.#pool, async (client) => {
      await client.query(
        `insert into log_refused_records (tenant_id, destination_id, record_id, record_type, position, reason)
         select $1, $2, r.id, r.type, r.position, r.reason
           from json_to_recordset($3::json) as r(id text, type text, position bigint, reason text)
         on conflict (tenant_id, destination_id, record_id, record_type) do update set reason = excluded.reason`,
        [
          key.tenantId,
          key.destinationId,
          JSON.stringify(
            refused.map(({ recordId, recordType, position, reason }) => ({
              id: recordId,
              type: recordType,
              position: String(position),
              reason,
            })),
          ),
        ],
      );
      const { rows } = await client.query<{ count: number }>(
        'select count(*) from log_refused_records where tenant_id = $1 and destination_id = $2',
        [key.tenantId, key.destinationId],
      );
      if (rows[0]!.count > MAX_REFUSED) throw new NoRoom();
      return true;
    }).catch((error: unknown) => {
      if (error instanceof NoRoom) return false;
      throw error;
    });
  }

  async #write(
    sql: string,
    { tenantId, destinationId, checkpointId }: CheckpointKey,
    values: readonly unknown[],
    { isRequired = true } = {},
  ): Promise<void> {
    const { rowCount } = await this.#pool.query(sql, [tenantId, destinationId, checkpointId, this.#epoch, ...values]);
    if (isRequired && rowCount !== 1) throw new ForwardingLost();
  }
}

class NoRoom extends Error {}

const checkpointOf = (row: CheckpointRow): ForwardingCheckpoint => ({
  tenantId: asTenantId(row.tenant_id),
  destinationId: row.destination_id,
  checkpointId: row.checkpoint_id,
  position: BigInt(row.position),
  lagEvents: row.lag_events,
  countedTo: BigInt(row.counted_to),
  range:
    row.until_position === null
      ? undefined
      : {
          from: Date.parse(row.from_at!),
          to: row.to_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.to_at),
          until: BigInt(row.until_position),
        },
});
