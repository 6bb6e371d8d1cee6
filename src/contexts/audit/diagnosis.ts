import type { ChainKey } from './domain/chain-key.ts';
import { entryHash, type ChainHead } from './domain/entry.ts';
import { canonicalJson } from '../../platform/kernel/canonical-json.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AuditLogRow } from '../../../projections/audit/audit-log.ts';
import type { AuditTable } from './audit-table.ts';
import { withoutHashColumn } from './serialized-rows.ts';
import type { ChainSource, ReplayedEntry, ReplayedPage } from './chain-replay.ts';

/** The kind of fault: in the table's entries, in the log's events, or in the sealed heads. */
export type FaultReason =
  | 'entry_changed'
  | 'entry_missing'
  | 'entry_added'
  | 'entries_reordered'
  | 'event_changed'
  | 'event_missing'
  | 'event_added'
  | 'events_reordered'
  | 'log_truncated'
  | 'table_head_changed'
  | 'head_mismatch'
  | 'seal_changed'
  | 'seal_missing'
  /** Only the hashes differ, and they form a chain: a process ran with another AUDIT_HMAC_KEY. */
  | 'other_key';

export interface Fault {
  /** The first entry that was changed or that no evidence confirms any more. */
  readonly sequence: number;
  readonly reason: FaultReason;
}

export interface DiagnosisInput {
  readonly source: ChainSource;
  readonly tenantId: TenantId;
  readonly table: AuditTable;
  readonly page: ReplayedPage;
  /** How many of the page's entries are in the range. */
  readonly count: number;
  /** The table was compared with the log in (after, upTo]; `before` is the last entry on which both agreed. */
  readonly after: Position;
  readonly upTo: Position;
  readonly before: ChainHead;
  /** The highest sequence of any genuine seal. */
  readonly sealed: number;
}

type Side = 'entry' | 'event';

/**
 * Finds the first difference between table and log, and decides which of the two was tampered with. The key decides: a
 * row with a correct hash that continues the chain was written by the application, so the log has changed.
 */
export async function diagnoseChain(one: DiagnosisInput): Promise<Fault | undefined> {
  const rows = await one.table.rows(one.after, one.upTo);
  let { before } = one;
  for (let index = 0; ; index += 1) {
    const entry = index < one.count ? one.page.entries[index] : undefined;
    const row = rows[index];
    if (!entry && !row) return undefined;
    if (entry && row && one.page.rows.at(index) === row.printed) {
      before = entry;
      continue;
    }
    const isRehashed = entry && row && (await madeWithOtherKey(one.table, row, one.page.rows.at(index)));
    const reason = isRehashed ? 'other_key' : await new Difference(one, before).reasonFor(entry, row);
    return { sequence: before.sequence + 1, reason };
  }
}

/**
 * True if only the hash of a row differs and the chain continues from it. Tampering with a single hash would break the
 * link to the next row.
 */
async function madeWithOtherKey(
  table: AuditTable,
  row: AuditLogRow & { readonly printed: string },
  expected: string,
): Promise<boolean> {
  if (withoutHashColumn(row.printed) !== withoutHashColumn(expected)) return false;
  const next = await table.next(BigInt(row.position));
  return (next ? next.previous_hash : (await table.ends()).head_hash) === row.hash;
}

class Difference {
  readonly #case: DiagnosisInput;
  readonly #before: ChainHead;

  constructor(one: DiagnosisInput, before: ChainHead) {
    this.#case = one;
    this.#before = before;
  }

  reasonFor(entry: ReplayedEntry | undefined, row: AuditLogRow | undefined): Promise<FaultReason> {
    if (entry && row && entry.position === BigInt(row.position)) return this.#bothButUnlike(entry, row);
    if (entry && (!row || entry.position < BigInt(row.position))) return this.#onlyInLog(entry);
    return this.#onlyInTable(row!, entry);
  }

  async #bothButUnlike(entry: ReplayedEntry, row: AuditLogRow): Promise<FaultReason> {
    const side: Side = this.#continues(row) ? 'event' : 'entry';
    const copies = await (side === 'event' ? this.#inLog(entry.id) : this.#inTable(row.event_id));
    if (copies > 1) return `${side}_added`;
    if (row.event_id === entry.id) return `${side}_changed`;
    const [logHasRow, tableHasEntry] = await Promise.all([this.#inLog(row.event_id), this.#inTable(entry.id)]);
    // `hasOther`: the tampered side still has the entry that the other side shows here. `isKnown`: the other side has
    // the one shown here.
    const [hasOther, isKnown] =
      side === 'event' ? [logHasRow > 0, tableHasEntry > 0] : [tableHasEntry > 0, logHasRow > 0];
    if (hasOther) return isKnown ? reordered(side) : `${side}_added`;
    return isKnown ? `${side}_missing` : `${side}_changed`;
  }

  async #onlyInLog(entry: ReplayedEntry): Promise<FaultReason> {
    const { table, sealed } = this.#case;
    const elsewhere = await this.#inTable(entry.id);
    const next = await table.next(entry.position);
    const { head_sequence: last, head_hash: hash } = await table.ends();
    // If there is no later row, the head row and the seals show whether the chain continued.
    const endsHere = !next && last === this.#before.sequence && hash === this.#before.hash && sealed <= last;
    const side: Side = endsHere || (next && this.#continues(next)) ? 'event' : 'entry';
    if (side === 'entry') return elsewhere > 0 ? 'entries_reordered' : 'entry_missing';
    return elsewhere > 0 && (await this.#inLog(entry.id)) === 1 ? 'events_reordered' : 'event_added';
  }

  async #onlyInTable(row: AuditLogRow, entry: ReplayedEntry | undefined): Promise<FaultReason> {
    if ((await this.#inTable(row.event_id)) > 1) return 'entry_added';
    const inLog = await this.#inLog(row.event_id);
    if (this.#continues(row)) {
      if (inLog > 0) return 'events_reordered';
      return !entry && this.#case.page.last && !this.#case.page.broken ? 'log_truncated' : 'event_missing';
    }
    return inLog > 0 ? 'entries_reordered' : 'entry_added';
  }

  #continues(row: AuditLogRow): boolean {
    return continuesChain(this.#case.source.key, this.#before, row);
  }

  async #inTable(eventId: string | null): Promise<number> {
    return eventId === null ? 0 : this.#case.table.copies(eventId);
  }

  /**
   * How often an event occurs in the tenant's part of the log. Reads all of it, which is acceptable once a fault is
   * known.
   */
  async #inLog(eventId: string | null): Promise<number> {
    const { source, tenantId } = this.#case;
    const filter = { tenantId, types: [...source.words.keys()] };
    let found = 0;
    for (let after = 0n; ;) {
      const page = await source.store.readAll(after, 2_000, filter);
      found += page.events.filter(({ id }) => id === eventId).length;
      if (page.position === after) return found;
      after = page.position;
    }
  }
}

/** True for a row that was written with the key as the next entry of the chain. */
export function continuesChain(key: ChainKey, before: ChainHead, row: AuditLogRow): boolean {
  if (row.sequence !== before.sequence + 1 || row.previous_hash !== before.hash) return false;
  return isCanonical(row.details) && isCanonical(row.event) && entryHash(key, entryAtPosition(row)) === row.hash;
}

const reordered = (side: Side): FaultReason => (side === 'event' ? 'events_reordered' : 'entries_reordered');

/**
 * Moving text between adjacent columns could keep the hash the same; the columns would then no longer be valid JSON.
 */
function isCanonical(text: string | null): boolean {
  try {
    return text !== null && canonicalJson(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

export const entryAtPosition = (row: AuditLogRow) => ({
  sequence: row.sequence,
  id: row.event_id ?? '',
  timestamp: row.recorded_at ?? '',
  actorId: row.actor_id,
  actorType: row.actor_type ?? '',
  action: row.action ?? '',
  resourceType: row.resource_type ?? '',
  resourceId: row.resource_id ?? '',
  details: row.details ?? '',
  event: row.event ?? '',
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  previousHash: row.previous_hash ?? '',
});
