import type pg from 'pg';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import { keyTracesAfter, type KeyTraces } from './lost-keys.ts';
import type { Mismatch } from './mismatch.ts';

interface Parts {
  readonly store: EventStore;
  readonly pool: pg.Pool;
  readonly service: TenantPool;
}

/**
 * How long a mismatch that was found is reported before it is checked again: checking reads the log after the
 * checkpoints.
 */
const AGAIN_MS = 15_000;

const AUDITED = `select coalesce(max(position), 0)::text as position from cursors where name = 'audit_log' and state <> 'retired'`;

/**
 * Checks whether the tables are older than the log shows. If the log is in PostgreSQL too, both are always from one
 * snapshot; with another store, PostgreSQL may have been restored alone.
 *
 * Read models would catch up by themselves. But keys created in between are missing, and reactions would repeat their
 * effects.
 */
export class TablesCheck {
  readonly #parts: Parts;
  /** The furthest checkpoint seen so far. If checkpoints went back, the tables were replaced. */
  #reached: Position | undefined;
  #found: { readonly mismatch: Mismatch; readonly furthest: Position; readonly until: number } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async mismatch(furthest: Position, end: Position): Promise<Mismatch | undefined> {
    if (this.#parts.store.name === 'postgres') return undefined;
    if (this.#found && this.#found.furthest === furthest && performance.now() < this.#found.until)
      return this.#found.mismatch;
    const isSuspicious = this.#reached === undefined || furthest < this.#reached || this.#found !== undefined;
    const mismatch = isSuspicious && furthest < end ? await this.#look(furthest, end) : undefined;
    this.#found = mismatch && { mismatch, furthest, until: performance.now() + AGAIN_MS };
    if (!mismatch) this.#reached = furthest;
    return mismatch;
  }

  async #look(furthest: Position, end: Position): Promise<Mismatch | undefined> {
    const traces = await keyTracesAfter(this.#parts, furthest);
    // Read afterwards, because another process may be projecting in the meantime.
    const {
      rows: [audited],
    } = await this.#parts.pool.query<{ position: string }>(AUDITED);
    return olderTables(traces, { furthest, end, audited: BigInt(audited!.position) });
  }
}

function olderTables(
  { lost, sealedTo }: KeyTraces,
  { furthest, end, audited }: { furthest: Position; end: Position; audited: Position },
): Mismatch | undefined {
  const older = `the tables are older than the event log: they have reached position ${furthest}, and the log ends at ${end}`;
  if (lost.length > 0) {
    const tenants = new Set(lost.map(({ tenantId }) => tenantId)).size;
    return {
      kind: 'keys_missing',
      reason: `keys of ${lost.length} ${lost.length === 1 ? 'person' : 'persons'} (of ${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}) are missing; ${older}`,
    };
  }
  return sealedTo > audited
    ? { kind: 'tables_older', reason: `${older}; audit entries up to position ${sealedTo} were sealed` }
    : undefined;
}
