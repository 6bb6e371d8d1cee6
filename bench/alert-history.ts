import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { auditLog } from '../projections/audit/audit-log.ts';
import type { Evidence } from '../src/contexts/audit/verification.ts';
import { verifyChain } from '../src/contexts/audit/verify.ts';
import { verifySegmentsInThreads } from '../src/contexts/audit/segment-verification-threads.ts';
import type { Database } from '../src/platform/database/database.ts';
import { tenantReads } from '../src/platform/database/tenant-reads.ts';
import { auditVocabulary } from '../src/contexts/audit/domain/vocabulary.ts';
import { ChainKey } from '../src/contexts/audit/domain/chain-key.ts';
import { families } from '../src/contexts/families.ts';
import { EventCodec } from '../src/platform/eventstore/codec.ts';
import type { EventStore, NewEvent } from '../src/platform/eventstore/port.ts';
import { PostgresEventStore } from '../src/platform/eventstore/postgres/postgres-event-store.ts';
import { canonicalJson } from '../src/platform/kernel/canonical-json.ts';
import { asTenantId } from '../src/platform/kernel/ids.ts';
import { SetAside } from '../src/platform/projector/set-aside.ts';
import { replayIntoTable } from '../src/platform/projector/table-replay.ts';
import { tableShapeOf } from '../src/platform/projector/projection.ts';
import { createTable, serveTable } from '../src/platform/projector/table.ts';
import { openKeyrings } from '../src/platform/vault/keyrings.ts';
import { PostgresPersonKeys } from '../src/platform/vault/postgres-person-keys.ts';
import { TenantDataKeys } from '../src/platform/vault/tenant-data-keys.ts';
import { startBenchServer } from './database.ts';

const TENANT = asTenantId(randomUUID());
const AT_ONCE = 500;
const AUDIT_KEY = randomBytes(32);

const metadata = {
  actor: { kind: 'system' as const, id: null },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
};

/** An alert's life in four events: raised, acknowledged, assigned, resolved. */
export function alertLife(alertId: string): NewEvent[] {
  const event = (type: string, data: object): NewEvent => ({
    id: randomUUID(),
    type,
    version: 1,
    data: canonicalJson({ alertId, ...data }),
    metadata,
  });
  const fingerprint = `password_reuse||${alertId}.example`;
  const raised = {
    alertType: 'password_reuse',
    severity: 'medium',
    title: 'Password reuse',
    description: 'The same password on two sites',
    fingerprint,
    userId: null,
    deviceId: null,
    domain: 'shop.example.com',
    url: null,
    cause: alertId,
    metadata: {},
  };
  return [
    event('AlertRaised', raised),
    event('AlertAcknowledged', { notes: 'looking' }),
    event('AlertAssigned', { assigneeId: randomUUID() }),
    event('AlertResolved', { status: 'resolved', resolution: 'done', fingerprint }),
  ];
}

export interface AlertHistory {
  readonly database: Database;
  readonly config: pg.ClientConfig;
  /** The dependencies of read models. */
  readonly parts: { readonly store: EventStore; readonly codec: EventCodec; readonly pool: pg.Pool };
  stop(): Promise<void>;
}

/** A log of this many events of one tenant's alerts, on a separate server. */
export async function openAlertHistory(events: number): Promise<AlertHistory> {
  const server = await startBenchServer();
  const { database, config, drop } = await server.database();
  const store = new PostgresEventStore(database.store, config);
  const keys = new TenantDataKeys(database.service, await openKeyrings(database.owner, Buffer.alloc(32, 1)));
  const codec = new EventCodec(families, new PostgresPersonKeys(database.service, keys));
  for (let written = 0; written < events; written += AT_ONCE * 4) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => randomUUID()).map((alertId) =>
        store.append({
          tenantId: TENANT,
          stream: `alert-${TENANT}.${alertId}`,
          expectedRevision: -1n,
          events: alertLife(alertId),
          claim: [],
          release: [],
        }),
      ),
    );
  }
  return {
    database,
    config,
    parts: { store, codec, pool: database.projector },
    stop: async () => {
      await store.close();
      await drop();
      await server.stop();
    },
  };
}

/** The chain of that history, projected, and everything needed to verify it. */
export async function openEvidence({ database, config, parts }: AlertHistory): Promise<Evidence> {
  const model = auditLog(AUDIT_KEY, families);
  const table = `audit_log_v${model.version}`;
  await parts.pool.query(createTable(tableShapeOf(model), table));
  await parts.pool.query(serveTable('audit_log', table));
  const aside = new SetAside(model.name, { mayLack: () => false });
  await replayIntoTable(parts, { model, generation: 1, from: 0n, empty: true, aside });
  const words = auditVocabulary(families);
  return {
    store: parts.store,
    key: new ChainKey(AUDIT_KEY),
    words,
    verification: verifySegmentsInThreads({
      log: parts.store.logAddress!,
      database: config,
      auditKey: AUDIT_KEY,
      words,
    }),
    reads: tenantReads(database.reads).ordinary,
    filed: () => [],
    projectedTo: (position: bigint) => Promise.resolve(position),
  };
}

export const verifying = (evidence: Evidence, entries: number) => async (): Promise<void> => {
  const { valid, entriesChecked } = await verifyChain(evidence, TENANT);
  if (!valid || entriesChecked !== entries) throw new Error(`not verified: ${entriesChecked}`);
};
