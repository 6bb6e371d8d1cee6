import { randomUUID, randomBytes } from 'node:crypto';
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
const cpu = async (name: string, f: () => Promise<unknown>) => { const c = process.cpuUsage(), t = performance.now(); await f(); const u = process.cpuUsage(c); console.log(name.padEnd(40), 'wall us/ev', ((performance.now() - t) * 1000 / N).toFixed(2), 'cpu us/ev', ((u.user + u.system) / N).toFixed(2)); };
const pages = async (use?: (rows: any[]) => void) => { let after = '0'; for (;;) { const { rows } = await database.store.query({ name: 'plain', text: 'select position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data from events where position > $1 order by position limit 5000', values: [after] }); if (rows.length === 0) return; use?.(rows); after = String(rows.at(-1).position); } };
const all: any[] = []; let a = 0n; for (;;) { const p = await store.readFeed(a, 5000); if (p.position === a) break; a = p.position; all.push(...p.events); }
const ck = new ChainKey(key); const table = new AuditTable(tenantReads(database.reads)(tenant));
const queries: Record<string,string> = {"count": "select count(*) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "print": "select count(*)::int, string_agg(\n  position || ' ' || octet_length(details) || ' ' || octet_length(event) || ' {\"action\":' || to_json(action)\n  || ',\"actorId\":' || coalesce(to_json(actor_id)::text, 'null') || ',\"actorType\":' || to_json(actor_type)\n  || ',\"details\":' || details || ',\"event\":' || event || ',\"id\":\"' || event_id || '\",\"ipAddress\":'\n  || coalesce(to_json(ip_address)::text, 'null') || ',\"previousHash\":' || to_json(previous_hash)\n  || ',\"resourceId\":' || to_json(resource_id) || ',\"resourceType\":' || to_json(resource_type)\n  || ',\"sequence\":' || sequence || ',\"timestamp\":\"' || to_char(recorded_at, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')\n  || '\",\"userAgent\":' || coalesce(to_json(user_agent)::text, 'null') || '} ' || to_json(hash), chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "no tochar": "select count(*)::int, string_agg(\n  position || ' ' || octet_length(details) || ' ' || octet_length(event) || ' {\"action\":' || to_json(action)\n  || ',\"actorId\":' || coalesce(to_json(actor_id)::text, 'null') || ',\"actorType\":' || to_json(actor_type)\n  || ',\"details\":' || details || ',\"event\":' || event || ',\"id\":\"' || event_id || '\",\"ipAddress\":'\n  || coalesce(to_json(ip_address)::text, 'null') || ',\"previousHash\":' || to_json(previous_hash)\n  || ',\"resourceId\":' || to_json(resource_id) || ',\"resourceType\":' || to_json(resource_type)\n  || ',\"sequence\":' || sequence || ',\"timestamp\":\"' || recorded_at::text\n  || '\",\"userAgent\":' || coalesce(to_json(user_agent)::text, 'null') || '} ' || to_json(hash), chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "jsonarray": "select count(*)::int, string_agg(json_build_array(position, sequence, hash, previous_hash, event_id, recorded_at, actor_type, actor_id, action, resource_type, resource_id, details, event, ip_address, user_agent)::text, chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "concatws": "select count(*)::int, string_agg(concat_ws(chr(31), position, sequence, hash, previous_hash, event_id, recorded_at::text, actor_type, coalesce(actor_id, chr(30)), action, resource_type, resource_id, details, event, coalesce(ip_address, chr(30)), coalesce(user_agent, chr(30))), chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "quote": "select count(*)::int, string_agg(\n  position || ' ' || octet_length(details) || ' ' || octet_length(event) || ' {\"action\":' || quote_ident(action)\n  || ',\"actorId\":' || coalesce(quote_ident(actor_id)::text, 'null') || ',\"actorType\":' || quote_ident(actor_type)\n  || ',\"details\":' || details || ',\"event\":' || event || ',\"id\":\"' || event_id || '\",\"ipAddress\":'\n  || coalesce(quote_ident(ip_address)::text, 'null') || ',\"previousHash\":' || quote_ident(previous_hash)\n  || ',\"resourceId\":' || quote_ident(resource_id) || ',\"resourceType\":' || quote_ident(resource_type)\n  || ',\"sequence\":' || sequence || ',\"timestamp\":\"' || to_char(recorded_at, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')\n  || '\",\"userAgent\":' || coalesce(quote_ident(user_agent)::text, 'null') || '} ' || quote_ident(hash), chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "format": "select count(*)::int, string_agg(format('%s %s %s {\"action\":%s,\"actorId\":%s,\"actorType\":%s,\"details\":%s,\"event\":%s,\"id\":\"%s\",\"ipAddress\":%s,\"previousHash\":\"%s\",\"resourceId\":%s,\"resourceType\":%s,\"sequence\":%s,\"timestamp\":\"%s\",\"userAgent\":%s} %s', position, octet_length(details), octet_length(event), action, actor_id, actor_type, details, event, event_id, ip_address, previous_hash, resource_id, resource_type, sequence, recorded_at, user_agent, hash), chr(10) order by position) from audit_log where tenant_id=$1 and position > $2 and position <= $3", "rowtext": "select count(*)::int, string_agg(l::text, chr(10) order by position) from audit_log l where tenant_id=$1 and position > $2 and position <= $3"};
const P=[[tenant,'0','20000']];const client=await database.reads.connect(); await client.query(`select set_config('castellan.tenant',$1,false)`,[tenant]);for(const [n,q] of Object.entries(queries)){ for(let i=0;i<4;i++){ const {rows}=await client.query('explain (analyze, timing off) '+q.replaceAll('$1',`'${tenant}'`).replaceAll('$2','0').replaceAll('$3','20000')); if(i===3) console.log(n, rows.at(-1)); }} client.release(); for(let i=0;i<4;i++){ const {rows}=await database.store.query(`explain (analyze, serialize text, timing off) select position::text, tenant_id, stream, revision::text, id, type, version, recorded_at, metadata, data from events where position > 0 and tenant_id = '${tenant}' and type = any('{AlertRaised,AlertAcknowledged,AlertResolved}') order by events.position limit 20000`); console.log(rows.map((r:any)=>r['QUERY PLAN']).join('\n')); }
for (let r = 0; r < 0; r++) {
  await cpu('verify', async () => { let after = 0n, n = 0; const pages = replay({ store, key: ck, words }, tenant, { head: GENESIS, position: 0n }, BigInt(N)); let next = pages.next(); for (;;) { const { value, done } = await next; if (done) break; next = pages.next(); if (!(await table.says(value.entries, after, value.position))) { console.log('MISMATCH'); break; } n += value.entries.length; after = value.position; } if (n !== N) console.log('n', n); });
}
} finally { await drop(); await server.stop(); }
