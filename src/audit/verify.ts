import { ChainKey } from '../domain/audit/chain-key.ts';
import { entryHash, GENESIS } from '../domain/audit/entry.ts';
import { auditVocabulary } from '../domain/audit/vocabulary.ts';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AuditLogRow } from '../../projections/audit/audit-log.ts';
import type { Services } from '../services.ts';
import { AuditTable, LOWEST } from './audit-table.ts';
import { replay, type ReplayedEntry, type ReplayedPage } from './replay.ts';
import { knownSeals, type KnownSeal } from './seals.ts';

/**
 * What is wrong. `entry_*`: the table is not what the log says; `event_*` and `log_truncated`: the log is not what the
 * table, or a head that was sealed earlier, proves it to have been; `seal_forged`: a seal that nobody with the key made.
 */
export type AuditReason =
  | 'entry_changed'
  | 'entry_missing'
  | 'entry_added'
  | 'entries_reordered'
  | 'event_changed'
  | 'event_missing'
  | 'event_added'
  | 'log_truncated'
  | 'head_mismatch'
  | 'seal_forged';

export interface AuditVerdict {
  readonly valid: boolean;
  readonly entriesChecked: number;
  readonly firstInvalidSequence: number | null;
  readonly reason: AuditReason | null;
  readonly verifiedAt: string;
}

interface Finding {
  readonly sequence: number;
  readonly reason: AuditReason;
}

type VerifyServices = Pick<Services, 'store' | 'reads' | 'config' | 'families' | 'projector' | 'loader'>;

/**
 * Computes a tenant's chain anew from the event log, holds the table against it row by row, and both against every head
 * that was sealed before: the first thing that does not fit is named.
 */
export async function verifyTenant(services: VerifyServices, tenantId: TenantId): Promise<AuditVerdict> {
  const key = new ChainKey(services.config.auditKey);
  const table = new AuditTable(services.reads(tenantId));
  const until = (await services.projector.livePositions()).get('audit_log') ?? 0n;
  const seals = await knownSeals(services, tenantId);
  let checked = 0;
  let last: ReplayedEntry | undefined;
  let finding: Finding | undefined = seals.find(({ genuine }) => !genuine) && { sequence: seals.find(({ genuine }) => !genuine)!.sequence, reason: 'seal_forged' };
  let after = LOWEST;
  const source = { store: services.store, key, words: auditVocabulary(services.families) };
  for await (const page of replay(source, tenantId, { head: GENESIS, position: 0n }, until)) {
    if (finding) break;
    const upTo = page.last ? until : page.position;
    finding = (await differenceIn(table, key, page, after, upTo, services)) ?? sealBroken(seals, page.entries);
    checked += page.entries.length;
    last = page.entries.at(-1) ?? last;
    after = upTo;
  }
  finding ??= beyondTheLog(seals, last) ?? (await endsOf(table, last));
  return {
    valid: finding === undefined,
    entriesChecked: checked,
    firstInvalidSequence: finding?.sequence ?? null,
    reason: finding?.reason ?? null,
    verifiedAt: new Date().toISOString(),
  };
}

/** The first row of a stretch that is not what was computed, with what that means. */
async function differenceIn(table: AuditTable, key: ChainKey, page: ReplayedPage, after: Position, upTo: Position, { store }: VerifyServices): Promise<Finding | undefined> {
  if (!page.broken && (await table.says(page, after, upTo))) return undefined;
  const rows = await table.rows(after, upTo);
  const genuine = (row: AuditLogRow): boolean => isGenuine(key, row);
  for (let index = 0; ; index += 1) {
    const entry = page.entries[index];
    const row = rows[index];
    if (!entry && !row) return page.broken && { sequence: (page.entries.at(-1)?.sequence ?? 0) + 1, reason: 'event_changed' };
    if (!row) return { sequence: entry!.sequence, reason: 'entry_missing' };
    if (entry && sameRow(row, entry) && genuine(row)) continue;
    const elsewhere = (event: string | null) => page.entries.some(({ id }) => id === event);
    if (!entry || BigInt(row.position) < entry.position) {
      if (page.broken && BigInt(row.position) === page.broken.position) return { sequence: row.sequence, reason: 'event_changed' };
      if (!genuine(row)) return { sequence: entry?.sequence ?? row.sequence, reason: elsewhere(row.event_id) ? 'entries_reordered' : 'entry_added' };
      return { sequence: row.sequence, reason: BigInt(row.position) > (await store.head()) ? 'log_truncated' : 'event_missing' };
    }
    if (BigInt(row.position) > entry.position) {
      const continues = genuine(row) && row.sequence === entry.sequence;
      return { sequence: entry.sequence, reason: continues ? 'event_added' : 'entry_missing' };
    }
    if (genuine(row)) return { sequence: entry.sequence, reason: 'event_changed' };
    return { sequence: entry.sequence, reason: row.event_id !== entry.id && elsewhere(row.event_id) ? 'entries_reordered' : 'entry_changed' };
  }
}

const sameRow = (row: AuditLogRow, entry: ReplayedEntry): boolean =>
  BigInt(row.position) === entry.position && row.sequence === entry.sequence && row.event_id === entry.id && row.hash === entry.hash;

/** Only somebody with the key can have written this row as it stands. */
function isGenuine(key: ChainKey, row: AuditLogRow): boolean {
  try {
    const { sequence, event_id: id, recorded_at: timestamp, actor_id: actorId, actor_type: actorType, action } = row;
    const { resource_type: resourceType, resource_id: resourceId, details, event, ip_address: ipAddress, user_agent: userAgent, previous_hash: previousHash } = row;
    const entry = { sequence, id: id!, timestamp: timestamp!, actorId, actorType: actorType!, action: action!, resourceType: resourceType!, resourceId: resourceId!, details: details!, event: event!, ipAddress, userAgent, previousHash: previousHash! };
    return entryHash(key, entry) === row.hash;
  } catch {
    return false;
  }
}

/** A seal says what the chain was; where table and log agree on something else, both were changed after it was made. */
function sealBroken(seals: readonly KnownSeal[], entries: readonly ReplayedEntry[]): Finding | undefined {
  const first = entries[0]?.sequence ?? 0;
  for (const { sequence, hash } of seals) {
    const entry = entries[sequence - first];
    if (!entry || entry.sequence !== sequence || entry.hash === hash) continue;
    const vouched = Math.max(0, ...seals.filter((seal) => seal.sequence < sequence).map((seal) => seal.sequence));
    return { sequence: vouched + 1, reason: 'event_changed' };
  }
  return undefined;
}

/** A sealed head that the log does not reach: its end was cut off, or an older copy was restored. */
function beyondTheLog(seals: readonly KnownSeal[], last: ReplayedEntry | undefined): Finding | undefined {
  const reached = last?.sequence ?? 0;
  return seals.some(({ sequence }) => sequence > reached) ? { sequence: reached + 1, reason: 'log_truncated' } : undefined;
}

/** The head row repeats the last entry; entries that came while this ran are none of its business. */
async function endsOf(table: AuditTable, last: ReplayedEntry | undefined): Promise<Finding | undefined> {
  const { head_sequence: head, head_hash: hash, sequence, hash: lastHash } = await table.ends();
  const agree = (head ?? 0) === (sequence ?? 0) && (hash ?? '') === (lastHash ?? '');
  return agree && (head ?? 0) >= (last?.sequence ?? 0) ? undefined : { sequence: last?.sequence ?? 1, reason: 'head_mismatch' };
}
