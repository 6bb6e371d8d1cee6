import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { auditLog } from '../projections/audit/audit-log.ts';
import { verify } from '../src/audit/verify.ts';
import { walkInThreads } from '../src/audit/walking-threads.ts';
import { tenantReads } from '../src/database/tenant-reads.ts';
import { auditVocabulary } from '../src/domain/audit/vocabulary.ts';
import { ChainKey } from '../src/domain/audit/chain-key.ts';
import { families } from '../src/domain/families.ts';
import { EventCodec } from '../src/eventstore/codec.ts';
import { PostgresEventStore } from '../src/eventstore/postgres/postgres-event-store.ts';
import { asTenantId } from '../src/kernel/ids.ts';
import { fill } from '../src/projector/filler.ts';
import { shapeOf } from '../src/projector/projection.ts';
import { createTable, serveTable } from '../src/projector/table.ts';
import { openKeyrings } from '../src/vault/keyrings.ts';
import { PostgresPersonKeys } from '../src/vault/postgres-person-keys.ts';
import { TenantDataKeys } from '../src/vault/tenant-data-keys.ts';
import { startBenchServer } from './database.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';
import { alertLife } from './rebuild.ts';

const ENTRIES = 200_000;
const TENANT = asTenantId(randomUUID());

/** Verifying a chain of 200,000 entries (log replayed, table compared row by row) against reading their events in pages. */
export async function measure(): Promise<Row[]> {
  const server = await startBenchServer();
  const { database, config, drop } = await server.database();
  const store = new PostgresEventStore(database.store, config);
  const keys = new TenantDataKeys(database.service, await openKeyrings(database.owner, Buffer.alloc(32, 1)));
  const codec = new EventCodec(families, new PostgresPersonKeys(database.service, keys));
  for (let written = 0; written < ENTRIES;) {
    const group = Array.from({ length: 500 }, () => randomUUID());
    await Promise.all(
      group.map((alertId) =>
        store.append({
          tenantId: TENANT,
          stream: `alert-${TENANT}.${alertId}`,
          expectedRevision: -1n,
          events: alertLife(alertId),
          take: [],
          release: [],
        }),
      ),
    );
    written += group.length * 4;
  }
  const auditKey = randomBytes(32);
  const model = auditLog(auditKey, families);
  await database.projector.query(createTable(shapeOf(model), 'audit_log_v1'));
  await database.projector.query(serveTable('audit_log', 'audit_log_v1'));
  await fill({ store, codec, pool: database.projector }, { model, generation: 1, from: 0n, empty: true });
  const words = auditVocabulary(families);
  const evidence = {
    store,
    key: new ChainKey(auditKey),
    words,
    walking: walkInThreads({ database: config, auditKey, words }),
    reads: tenantReads(database.reads).ordinary,
    filed: () => [],
    projectedTo: (position: bigint) => Promise.resolve(position),
  };
  const verifying = () =>
    perSecond(ENTRIES, async () => {
      const { valid, entriesChecked } = await verify(evidence, TENANT);
      if (!valid || entriesChecked !== ENTRIES) throw new Error(`not verified: ${entriesChecked}`);
    });
  const reader = new pg.Pool({ ...config, max: 1 });
  const plainRead = () =>
    perSecond(ENTRIES, async () => {
      for (let position = '0'; ;) {
        const { rows } = await reader.query<{ position: string }>({
          name: 'page',
          text: 'select * from events where position > $1 order by position limit 5000',
          values: [position],
        });
        if (rows.length === 0) return;
        position = rows.at(-1)!.position;
      }
    });
  const [verified, read] = await alternate(5, [verifying, plainRead]);
  await reader.end();
  await store.close();
  await drop();
  await server.stop();
  return [
    compare(
      'audit verify over 200,000 entries, against the plain paged read of their events',
      'events/s',
      '>= 0.4',
      verified!,
      read!,
      'read',
    ),
  ];
}
