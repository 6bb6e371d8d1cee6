import { randomUUID, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startBenchServer, log } from './database.ts';
import { asTenantId } from '../src/kernel/ids.ts';
import { PostgresEventStore } from '../src/eventstore/postgres/postgres-event-store.ts';
import { EventCodec } from '../src/eventstore/codec.ts';
import { families } from '../src/domain/families.ts';
import { auditVocabulary } from '../src/domain/audit/vocabulary.ts';
import { Keyring } from '../src/vault/keyring.ts';
import { PostgresPersonKeys } from '../src/vault/postgres-person-keys.ts';
import { TenantDataKeys } from '../src/vault/tenant-data-keys.ts';
import { auditLog } from '../projections/audit/audit-log.ts';
import { Projector } from '../src/projector/projector.ts';
import { fill } from '../src/projector/filler.ts';
import { createTable, serveTable } from '../src/projector/table.ts';
import { shapeOf } from '../src/projector/projection.ts';
import { replay } from '../src/audit/replay.ts';
import { canonicalJson } from '../src/domain/audit/canonical-json.ts';
import { ChainKey } from '../src/domain/audit/chain-key.ts';
import { PrintedRows } from '../src/audit/printed-rows.ts';
import { AuditTable } from '../src/audit/audit-table.ts';
import { tenantReads } from '../src/database/tenant-reads.ts';
import { entryHash, entryAfter, GENESIS } from '../src/domain/audit/entry.ts';
const N = Number(process.argv[2] ?? 50000);
const server = await startBenchServer();
const { database, config, drop } = await server.database();
try {
const store = new PostgresEventStore(database.store, config);
const tenant = asTenantId(randomUUID());
const keys = new PostgresPersonKeys(database.service, new TenantDataKeys(database.service, new Keyring(randomBytes(32))));
const codec = new EventCodec(families, keys);
const md = () => { const commandId = randomUUID(); return { actor: { kind: 'admin' as const, id: randomUUID(), ip: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36' }, correlationId: randomUUID(), causationId: commandId, commandId }; };
const person = randomUUID();
const t0 = performance.now();
for (let i = 0; i < N; i += 500) {
  const alertId = randomUUID();
  const events = await Promise.all(Array.from({ length: 500 }, (_, k) => codec.encode(randomUUID(), tenant, k % 3 === 0
    ? { type: 'AlertRaised', data: { alertId, alertType: 'password_reuse', severity: 'medium', title: 'Password reused', description: 'The same password on two sites '+'x'.repeat(60), fingerprint: 'password_reuse|'+person, userId: person, deviceId: randomUUID(), domain: 'example.com', url: 'https://example.com/login?x='+k, cause: randomUUID(), metadata: { count: k } } }
    : k % 3 === 1 ? { type: 'AlertAcknowledged', data: { alertId, notes: 'looking at it, '+'y'.repeat(100) } } : { type: 'AlertResolved', data: { alertId, status: 'resolved', resolution: 'the person has changed it '+'z'.repeat(80), fingerprint: 'password_reuse|'+person } }, md())));
  await store.append({ tenantId: tenant, stream: `alert-${tenant}.${alertId}`, expectedRevision: -1n, events, take: [], release: [] });
}
console.log('appended', performance.now() - t0);
const key = randomBytes(32);
const model = auditLog(key, families);
await database.projector.query(createTable(shapeOf(model), 'audit_log_v1'));
await database.projector.query(serveTable('audit_log', 'audit_log_v1'));
const t1 = performance.now();
await fill({ store, codec, pool: database.projector }, { model, generation: 1, from: 0n, empty: true });
console.log('filled', performance.now() - t1);
await database.owner.query('vacuum analyze');
const words = auditVocabulary(families);
const srv = async () => { const { rows } = await database.owner.query('select pid from pg_stat_activity where datname = current_database()'); let t = 0; for (const { pid } of rows) try { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '); t += Number(f[11]) + Number(f[12]); } catch {} return t * 10000; };
const sums: Record<string, number[][]> = {};
const cpu = async (name: string, f: () => Promise<unknown>) => { (globalThis as any).gc?.(); const s0 = await srv(); const c = process.cpuUsage(), t = performance.now(); await f(); const u = process.cpuUsage(c); const w = (performance.now() - t) * 1000 / N; const s1 = await srv(); (sums[name] ??= []).push([w, (u.user + u.system) / N, (s1 - s0) / N]); };
const report = () => { for (const [n, v] of Object.entries(sums)) { const med = (i: number) => v.map((x) => x[i]!).sort((a, b) => a - b)[v.length >> 1]!; console.log(n.padEnd(30), 'wall', med(0).toFixed(1), 'client', med(1).toFixed(1), 'server', med(2).toFixed(1), 'total', (med(1) + med(2)).toFixed(1)); } };
const pages = async (use?: (rows: any[]) => void) => { let after = '0'; for (;;) { const { rows } = await database.store.query({ name: 'plain', text: 'select position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data from events where position > $1 order by position limit 5000', values: [after] }); if (rows.length === 0) return; use?.(rows); after = String(rows.at(-1).position); } };
const all: any[] = []; let a = 0n; for (;;) { const p = await store.readFeed(a, 5000); if (p.position === a) break; a = p.position; all.push(...p.events); }
const ck = new ChainKey(key); const table = new AuditTable(tenantReads(database.reads)(tenant));
for (let r = 0; r < 6; r++) {
  await cpu('plain paged read', () => pages());
  await cpu('feed filtered 1000', async () => { let a = 0n; for (;;) { const p = await store.readFeed(a, 1000, { tenantId: tenant, types: [...words.keys()] }); if (p.position === a) break; a = p.position; } });
  await cpu('replay', async () => { for await (const _ of replay({ store, key: ck, words }, tenant, { head: GENESIS, position: 0n }, BigInt(N))); });
  await cpu('table', async () => { const r = new PrintedRows(); for (let p = 0; p < N; p += 1000) await table.says({ entries: [], rows: r } as any, BigInt(p), BigInt(p + 1000)); });
  await cpu('verify', async () => { let after = 0n, n = 0; const pages = replay({ store, key: ck, words }, tenant, { head: GENESIS, position: 0n }, BigInt(N)); let next = pages.next(); for (;;) { const { value, done } = await next; if (done) break; next = pages.next(); if (!(await table.says(value, after, value.position))) { console.log('MISMATCH'); break; } n += value.entries.length; after = value.position; } if (n !== N) console.log('n', n); });
}
report();
} finally { await drop(); await server.stop(); }
