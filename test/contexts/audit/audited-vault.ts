import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { auditLog } from '../../../projections/audit/audit-log.ts';
import { auditVocabulary } from '../../../src/contexts/audit/domain/vocabulary.ts';
import { ChainKey } from '../../../src/contexts/audit/domain/chain-key.ts';
import { auditHeadEvents } from '../../../src/contexts/audit/domain/events.ts';
import { GENESIS, type ChainHead } from '../../../src/contexts/audit/domain/entry.ts';
import {
  auditHeadStream,
  sealHead,
  UNSEALED,
  type SealedHead,
} from '../../../src/contexts/audit/domain/sealed-head.ts';
import { replayChain, type ReplayedEntry } from '../../../src/contexts/audit/chain-replay.ts';
import type { FiledSeal } from '../../../src/contexts/audit/filed-seals.ts';
import { AuditTable } from '../../../src/contexts/audit/audit-table.ts';
import type { SegmentVerification } from '../../../src/contexts/audit/chain-segments.ts';
import type { Evidence } from '../../../src/contexts/audit/verification.ts';
import { verifyChain } from '../../../src/contexts/audit/verify.ts';
import { verifySegment } from '../../../src/contexts/audit/segment-verification.ts';
import { tenantReads } from '../../../src/platform/database/tenant-reads.ts';
import { defineEvents, type DomainEvent } from '../../../src/platform/kernel/event.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { SetAside } from '../../../src/platform/projector/set-aside.ts';
import { replayIntoTable } from '../../../src/platform/projector/table-replay.ts';
import { tableShapeOf } from '../../../src/platform/projector/projection.ts';
import { createTable, serveTable } from '../../../src/platform/projector/table.ts';
import { MemoryPersonKeys, openProjectorApplication } from '../../platform/projector/projector-application.ts';
import { TENANTS } from '../../platform/projector/ledger.ts';

export const [ACME, OTHER] = [TENANTS[0]!, TENANTS[1]!];
export const GUEST = 'cccccccc-0000-4000-8000-000000000001';

/** An example domain: doors that open for guests, keys that are cut, and a sensor that reports all day. */
export const doorEvents = defineEvents('door', {
  DoorOpened: {
    version: 1,
    schema: z.object({ door: z.string(), guestId: z.string(), guest: z.string(), hour: z.int() }),
    personal: { subject: 'guestId', fields: ['guest'] },
    audit: 'door.opened',
  },
  DoorLocked: {
    version: 1,
    schema: z.object({ door: z.string(), reason: z.string().nullable() }),
    audit: 'door.locked',
  },
  KeyCut: {
    version: 1,
    schema: z.object({ keyId: z.string(), notes: z.array(z.string()) }),
    about: { resource: 'key', id: 'keyId' },
    audit: 'key.cut',
  },
  DoorSeen: { version: 1, schema: z.object({ door: z.string() }), audit: false },
});
const families = [doorEvents, auditHeadEvents];
const TABLE = 'audit_log_v1';

export type AuditedVault = Awaited<ReturnType<typeof openAuditedVault>>;

/** An application with an audit chain and no running service: the databases contain only what a test has written. */
export async function openAuditedVault() {
  const keys = new MemoryPersonKeys();
  const application = await openProjectorApplication(families, keys);
  const { store, database, codec, sql } = application;
  const auditKey = randomBytes(32);
  const model = auditLog(auditKey, families);
  const key = new ChainKey(auditKey);
  const words = auditVocabulary(families);
  const filed: FiledSeal[] = [];
  await database.projector.query(createTable(tableShapeOf(model), TABLE));
  await database.projector.query(serveTable('audit_log', TABLE));

  const evidence: Evidence = {
    store,
    key,
    words,
    reads: tenantReads(database.reads).ordinary,
    filed: (tenantId) => filed.filter((seal) => seal.tenantId === tenantId),
    projectedTo: (position) => Promise.resolve(position),
  };
  const chainOf = async (tenantId: TenantId): Promise<ReplayedEntry[]> => {
    const entries: ReplayedEntry[] = [];
    const from: { head: ChainHead; position: bigint } = { head: GENESIS, position: 0n };
    for await (const page of replayChain(evidence, tenantId, from, await store.head())) entries.push(...page.entries);
    return entries;
  };
  return {
    ...application,
    keys,
    auditKey,
    evidence,
    filed,
    families,
    chainOf,
    /** Folds the whole log into the table, as the service would: with the key, whatever the log contains now. */
    async project(): Promise<void> {
      await sql(`truncate ${TABLE}`);
      await replayIntoTable(
        { store, codec, pool: database.projector },
        { model, generation: 1, from: 0n, empty: true, aside: new SetAside(model.name, { mayLack: () => false }) },
      );
    },
    /** Seals the current end of the chain, in the log and in the file. */
    async seal(tenantId: TenantId): Promise<void> {
      const last = (await chainOf(tenantId)).at(-1)!;
      const before =
        ((await store.readStreamTail(auditHeadStream(tenantId), 1))[0]?.data as SealedHead | undefined) ?? UNSEALED;
      const seal = sealHead(key, tenantId, last, last.position, before);
      await application.happen(auditHeadStream(tenantId), [{ type: 'AuditHeadSealed', data: seal }], tenantId);
      filed.push({ tenantId, ...seal });
    },
    verify: (
      tenantId: TenantId = ACME,
      { pageSize = 1_000, verification }: Pick<Evidence, 'pageSize' | 'verification'> = {},
    ) => verifyChain({ ...evidence, pageSize, verification }, tenantId),
    /** Segments of this many entries, verified concurrently in this thread. */
    inSegments: (size: number): SegmentVerification => ({
      size,
      open: () => ({
        count: 2,
        verify: (one) => verifySegment(evidence, new AuditTable(evidence.reads(one.tenantId)), one),
        close: async () => undefined,
      }),
    }),
    /** Copies log and table; the returned function restores both. */
    async snapshot(name: string): Promise<() => Promise<void>> {
      for (const table of ['events', TABLE]) await sql(`create table ${name}_${table} as table ${table}`);
      const filedBefore = [...filed];
      return async () => {
        for (const table of ['events', TABLE]) await sql(`delete from ${table}`);
        for (const table of ['events', TABLE]) await sql(`insert into ${table} select * from ${name}_${table}`);
        filed.splice(0, filed.length, ...filedBefore);
      };
    },
  };
}

const opened = (n: number): DomainEvent => ({
  type: 'DoorOpened',
  data: { door: `d${n % 3}`, guestId: GUEST, guest: `Guest "${n}" €`, hour: n },
});
const locked = (n: number): DomainEvent => ({
  type: 'DoorLocked',
  data: { door: `d${n % 3}`, reason: n % 2 ? 'late' : null },
});
const cut = (n: number): DomainEvent => ({ type: 'KeyCut', data: { keyId: `k${n}`, notes: ['a', `note ${n}`] } });
const seen = (n: number): DomainEvent => ({ type: 'DoorSeen', data: { door: `d${n % 3}` } });

/** A day with `count` entries of ACME, in several streams, between telemetry and the day of another tenant. */
export async function aDay({ happen }: AuditedVault, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n += 1) {
    const make = [opened, locked, cut][n % 3]!;
    await happen(`door-${ACME}.d${n % 3}`, [make(n)], ACME);
    if (n % 2 === 0) await happen(`sensor-${ACME}.s`, [seen(n)], ACME);
    if (n % 3 === 0) await happen(`door-${OTHER}.d`, [opened(n + 100)], OTHER);
  }
}
