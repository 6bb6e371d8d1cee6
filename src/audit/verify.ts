import { ChainKey } from '../domain/audit/chain-key.ts';
import { GENESIS, type ChainHead } from '../domain/audit/entry.ts';
import { auditVocabulary } from '../domain/audit/vocabulary.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { Position } from '../kernel/event.ts';
import { FailureError, unavailable } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { TenantReads } from '../kernel/query.ts';
import type { Services } from '../services.ts';
import { AuditTable, LOWEST } from './audit-table.ts';
import { diagnose, type Fault, type Reason } from './diagnosis.ts';
import { replay, type ChainSource, type ReplayedPage } from './replay.ts';
import { SealFile, type FiledSeal } from './seal-file.ts';
import { Seals, sealsInLog } from './seals.ts';

export interface AuditVerdict {
  readonly valid: boolean;
  /** Entries that table, log and seals agree about. */
  readonly entriesChecked: number;
  readonly firstInvalidSequence: number | null;
  readonly reason: Reason | null;
  readonly verifiedAt: string;
}

/** Everything that says something about a tenant's chain. */
export interface Evidence extends ChainSource {
  readonly store: Pick<EventStore, 'readFeed' | 'readStream' | 'head'>;
  readonly reads: (tenantId: TenantId) => TenantReads;
  /** What the file beside the databases holds of a tenant. */
  filed(tenantId: TenantId): Partial<FiledSeal>[];
  /** Waits a little until the read model has passed a position, and answers how far it has come. */
  projectedTo(position: Position): Promise<Position>;
}

/** How long a verification waits for entries of events that were appended just before it. */
const PATIENCE_MS = 5_000;

type VerifyServices = Pick<Services, 'store' | 'reads' | 'config' | 'families' | 'projector'>;

export function evidenceOf({ store, reads, config, families, projector }: VerifyServices): Evidence {
  const file = new SealFile(config.dataDir);
  return {
    store,
    reads,
    key: new ChainKey(config.auditKey),
    words: auditVocabulary(families),
    filed: (tenantId) => file.sealsOf(tenantId),
    async projectedTo(position) {
      for (const deadline = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
        const reached = (await projector.livePositions()).get('audit_log') ?? 0n;
        if (reached >= position || Date.now() > deadline) return reached;
      }
    },
  };
}

const underWay = new WeakMap<object, Map<TenantId, Promise<AuditVerdict>>>();

/** One verification of a chain at a time: who asks while it runs gets the same answer. */
export function verifyTenant(services: VerifyServices, tenantId: TenantId): Promise<AuditVerdict> {
  const running = underWay.get(services.store) ?? new Map<TenantId, Promise<AuditVerdict>>();
  underWay.set(services.store, running);
  let verdict = running.get(tenantId);
  if (!verdict) {
    verdict = verify(evidenceOf(services), tenantId).finally(() => running.delete(tenantId));
    running.set(tenantId, verdict);
  }
  return verdict;
}

/**
 * Computes a tenant's chain anew from the log, holds the table against it row by row, and both against every head that was
 * sealed. The first thing that does not fit is named. Throws `unavailable` when all is well as far as the read model has
 * come, but that is not far enough to vouch for the rest.
 */
export async function verify(evidence: Evidence, tenantId: TenantId): Promise<AuditVerdict> {
  const first = await walk(evidence, tenantId, true);
  // The quick way takes the log's text for canonical. Where it finds something, the slow and strict one has the last word.
  const { fault, checked, behind } = first.fault ? await walk(evidence, tenantId, false) : first;
  if (!fault && behind) throw new FailureError(unavailable('the audit log is behind, try again'));
  return {
    valid: fault === undefined,
    entriesChecked: checked,
    firstInvalidSequence: fault?.sequence ?? null,
    reason: fault?.reason ?? null,
    verifiedAt: new Date().toISOString(),
  };
}

interface Walk {
  readonly fault: Fault | undefined;
  readonly checked: number;
  readonly behind: boolean;
}

async function walk(evidence: Evidence, tenantId: TenantId, asWritten: boolean): Promise<Walk> {
  const { key, store } = evidence;
  // In this order: every seal that is read here speaks of a log that ends at `until` or before.
  const filed = await Seals.open(key, tenantId, evidence.filed(tenantId).values(), false);
  const until = await store.head();
  const logged = await Seals.open(key, tenantId, sealsInLog(store, tenantId, until), true);
  const projected = await evidence.projectedTo(until);
  const table = new AuditTable(evidence.reads(tenantId));
  const behind = projected < until;
  let before: ChainHead = GENESIS;
  let after = LOWEST;
  let pageStart: ChainHead = GENESIS;
  const pages = replay(evidence, tenantId, { head: GENESIS, position: 0n }, until, asWritten);
  for (let next = pages.next(); ; ) {
    const { value: page, done } = await next;
    if (done) break;
    next = pages.next(); // hashed while the table is asked
    next.catch(() => undefined); // reported where it is awaited
    const upTo = lower(page.broken ? page.broken.position - 1n : page.last ? until : page.position, projected);
    const one = { source: evidence, tenantId, table, page: upToPosition(page, upTo), after, upTo, before: pageStart, sealed: Math.max(filed.sealed, logged.sealed) };
    const same = await table.says(one.page, after, upTo);
    const difference = same ? undefined : await diagnose(one);
    const contradiction = earlier(await filed.contradiction(page.entries), await logged.contradiction(page.entries));
    // Below a difference, table and log agree: what a seal contradicts there was changed in both.
    const fault = contradiction && (!difference || contradiction.sealed < difference.sequence) ? contradiction : (difference ?? (await brokenIn(page, table, before)));
    if (fault) return { fault, checked: fault.sequence - 1, behind };
    pageStart = page.entries.at(-1) ?? pageStart;
    before = one.page.entries.at(-1) ?? before;
    after = upTo > after ? upTo : after;
  }
  const fault = unmet([filed, logged], pageStart) ?? (await endsOf(table, before, behind, store)) ?? filed.damage ?? logged.damage ?? sealTakenOut(filed, logged);
  return { fault, checked: before.sequence, behind };
}

const lower = (a: Position, b: Position): Position => (a < b ? a : b);
