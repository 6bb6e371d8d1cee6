import type pg from 'pg';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import { settleAll } from '../../platform/database/transaction.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { SyncCounts } from './domain/events.ts';
import { NOTHING_SYNCED } from './domain/sync-counts.ts';
import { PHASE } from './staging-sql.ts';

export const syncPhases = ['reading', 'planning', 'applying', 'ended'] as const;
export type SyncPhase = (typeof syncPhases)[number];

export type Progress = Partial<SyncCounts> & { readonly applied?: number };

/** How long an attempt may be silent before another one takes over. It renews its hold several times within. */
const HELD_SECONDS = 20;
export const RENEWED_EVERY_MS = 5_000;
const HOLD = `holder = $3, held_until = now() + interval '${HELD_SECONDS} seconds', updated_at = now()`;

/** Another attempt works on the synchronization now. */
export class SyncHeldElsewhere extends Error {}

/**
 * The row of one synchronization: which attempt works on it, and how far it is. Every write proves that the attempt still
 * holds it, so an attempt that was suspended and comes back too late changes nothing.
 */
export class SyncHold {
  protected readonly pool: TenantPool;
  readonly #tenantId: TenantId;
  readonly #syncId: string;
  readonly #holder: string;

  constructor(pool: TenantPool, tenantId: TenantId, syncId: string, holder: string) {
    this.pool = pool;
    this.#tenantId = tenantId;
    this.#syncId = syncId;
    this.#holder = holder;
  }

  /** The phase that an earlier attempt had reached. Throws `SyncHeldElsewhere` while another one is at work. */
  async take(): Promise<SyncPhase> {
    const { rows } = await this.statement<{ phase: SyncPhase }>(
      `insert into directory_sync_runs as r (tenant_id, sync_id, holder, phase, held_until, progress, updated_at)
       values ($1, $2, $3, 'reading', now() + interval '${HELD_SECONDS} seconds', '{}', now())
       on conflict (tenant_id, sync_id) do update set ${HOLD}
        where r.holder is null or r.holder = $3 or r.held_until < now()
       returning phase`,
      [this.#holder],
    );
    if (!rows[0]) throw new SyncHeldElsewhere('another attempt is at work');
    return rows[0].phase;
  }

  /** Throws `SyncHeldElsewhere` if another attempt has taken over. */
  renew(): Promise<void> {
    return this.write(() => Promise.resolve());
  }

  async release(): Promise<void> {
    await this.statement(
      'update directory_sync_runs set holder = null where tenant_id = $1 and sync_id = $2 and holder = $3',
      [this.#holder],
    );
  }

  enter(phase: SyncPhase, progress: Progress): Promise<void> {
    return this.write((client) => this.query(client, PHASE, [phase, JSON.stringify(progress)]));
  }

  /** The counts of the plan that is being carried out. */
  async counts(): Promise<SyncCounts> {
    const { rows } = await this.statement<{ progress: Progress }>(
      'select progress from directory_sync_runs where tenant_id = $1 and sync_id = $2',
    );
    const { applied: _, ...counts } = rows[0]?.progress ?? {};
    return { ...NOTHING_SYNCED, ...counts };
  }

  protected statement<Row extends pg.QueryResultRow>(sql: string, parameters: readonly unknown[] = []) {
    return this.pool.statement<Row>(this.#tenantId, sql, [this.#syncId, ...parameters]);
  }

  protected query<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    sql: string,
    parameters: readonly unknown[] = [],
  ) {
    return client.query<Row>(sql, [this.#tenantId, this.#syncId, ...parameters]);
  }

  protected write(work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
    return this.pool.transaction(this.#tenantId, async (client) => {
      const held = this.query(
        client,
        `update directory_sync_runs set ${HOLD} where tenant_id = $1 and sync_id = $2 and holder = $3`,
        [this.#holder],
      );
      // What follows is sent along, and undone if the hold is lost.
      await settleAll([held, work(client)]);
      if ((await held).rowCount !== 1) throw new SyncHeldElsewhere('another attempt has taken over');
    });
  }
}
