import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ChainHead } from './domain/entry.ts';
import type { AuditTable } from './audit-table.ts';
import type { EntryHashes } from './hashes.ts';
import { replayChain, type ChainSource } from './chain-replay.ts';

/**
 * A part of a chain: the entries in (from.position, upTo], which continue `from.head`. The caller has to confirm that
 * head.
 */
export interface ChainSegment {
  readonly tenantId: TenantId;
  readonly from: { readonly head: ChainHead; readonly position: Position };
  /** The lower bound for table rows: before the first event there must be none. */
  readonly after: Position;
  readonly upTo: Position;
}

export interface SegmentResult {
  /** True if table and log are byte for byte the same. */
  readonly agrees: boolean;
  readonly end: ChainHead;
  readonly hashes: EntryHashes;
}

/** Recomputes one segment from the log and compares the table with it. */
export async function verifySegment(
  source: ChainSource,
  table: AuditTable,
  { tenantId, from, after, upTo }: ChainSegment,
): Promise<SegmentResult> {
  let end = from.head;
  let compared = after;
  const hashes: string[] = [];
  const resultOf = (agrees: boolean): SegmentResult => ({
    agrees,
    end,
    hashes: { first: from.head.sequence + 1, bytes: Buffer.from(hashes.join(''), 'hex') },
  });
  const pages = replayChain(source, tenantId, from, upTo, true);
  for (let next = pages.next(); ;) {
    const { value: page, done } = await next;
    if (done) return resultOf(true);
    next = pages.next(); // hashed while the table is queried
    next.catch(() => undefined); // reported where it is awaited
    const until = page.last ? upTo : page.position;
    if (page.broken || !(await table.says(page, page.entries.length, compared, until))) return resultOf(false);
    for (const { hash } of page.entries) hashes.push(hash);
    end = page.entries.at(-1) ?? end;
    compared = until;
  }
}
