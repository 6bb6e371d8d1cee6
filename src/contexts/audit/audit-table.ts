import type { ChainHead } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { AuditLogRow } from '../../../projections/audit/audit-log.ts';
import { SERIALIZED_ROW } from './serialized-rows.ts';
import type { ReplayedPage } from './chain-replay.ts';

const STRETCH = `from audit_log where tenant_id = $1 and position > $2 and position <= $3 and position <> 0`;
const PRINT = `select count(*)::int as entries, coalesce(string_agg(${SERIALIZED_ROW}, chr(10) order by position), '') as text ${STRETCH}`;
const ROWS = `select *, ${SERIALIZED_ROW} as printed ${STRETCH} order by position`;
const NEXT = `select * from audit_log where tenant_id = $1 and position > $2 order by position limit 1`;
const CUT = `
  select position::text, sequence, hash from audit_log
   where tenant_id = $1 and position > $2 and position <= $3 order by audit_log.position offset $4 limit 1`;
const COPIES = `select count(*)::int as copies from audit_log where tenant_id = $1 and event_id = $2`;
const ENDS = `
  select h.sequence as head_sequence, h.hash as head_hash, l.sequence, l.hash, l.position::text
    from (select 1) one
    left join audit_log h on h.tenant_id = $1 and h.position = 0
    left join lateral (select * from audit_log where tenant_id = $1 and position > 0 order by audit_log.position desc limit 1) l on true`;

export interface TableEnds {
  readonly head_sequence: number | null;
  readonly head_hash: string | null;
  readonly sequence: number | null;
  readonly hash: string | null;
  readonly position: string | null;
}

/** Below every position, so that a row that was inserted before the first one is found. */
export const BELOW_FIRST_POSITION: Position = -(2n ** 63n);

/**
 * The read model as evidence: the rows of a tenant, including any that were written by others. Ranges are (after,
 * upTo].
 */
export class AuditTable {
  readonly #reads: TenantReads;

  constructor(reads: TenantReads) {
    this.#reads = reads;
  }

  /** True if the rows of a range are byte for byte those computed for the first `count` entries of a page. */
  async says({ rows }: ReplayedPage, count: number, after: Position, upTo: Position): Promise<boolean> {
    const row = await this.#reads.figures<{ entries: number; text: string }>(PRINT, [String(after), String(upTo)]);
    return row!.entries === count && rows.equals(row!.text, count);
  }

  rows(after: Position, upTo: Position): Promise<(AuditLogRow & { readonly printed: string })[]> {
    return this.#reads.rows(ROWS, [String(after), String(upTo)]);
  }

  next(after: Position): Promise<AuditLogRow | undefined> {
    return this.#reads.one<AuditLogRow>(NEXT, [String(after)]);
  }

  /**
   * The chain's head `entries` rows after a position, according to the table; undefined if there are fewer rows up to
   * `until`.
   */
  async cut(
    after: Position,
    until: Position,
    entries: number,
  ): Promise<{ head: ChainHead; position: Position } | undefined> {
    const [row] = await this.#reads.rows<{ position: string; sequence: number; hash: string }>(CUT, [
      String(after),
      String(until),
      entries - 1,
    ]);
    return row && { head: { sequence: row.sequence, hash: row.hash }, position: BigInt(row.position) };
  }

  async copies(eventId: string): Promise<number> {
    return (await this.#reads.figures<{ copies: number }>(COPIES, [eventId]))!.copies;
  }

  /** The head row and the last entry, in one snapshot. */
  async ends(): Promise<TableEnds> {
    return (await this.#reads.one<TableEnds>(ENDS))!;
  }
}
