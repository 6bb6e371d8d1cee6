import { randomBytes, randomUUID, createHmac, hash } from 'node:crypto';
import { canonicalJson, quoted } from '../src/domain/audit/canonical-json.ts';
const key = randomBytes(32), tenant=randomUUID(), person=randomUUID();
const N=10000; const all:any[]=[];
for (let k=0;k<N;k++){ const alertId=randomUUID(), commandId=randomUUID();
 const data = JSON.parse(JSON.stringify(k % 3 === 0 ? { alertId, alertType: 'password_reuse', severity: 'medium', title: 'Password reused', description: 'The same password on two sites '+'x'.repeat(60), fingerprint: 'password_reuse|'+person, userId: person, deviceId: randomUUID(), domain: 'example.com', url: '[sealed]', cause: randomUUID(), metadata: { count: k }, $sealed:{person, value:randomBytes(60).toString('base64')} } : k%3===1? { alertId, notes: 'looking at it, '+'y'.repeat(100) }: { alertId, status: 'resolved', resolution: 'the person has changed it '+'z'.repeat(80), fingerprint: 'password_reuse|'+person }));
 all.push({id:randomUUID(),type:['AlertRaised','AlertAcknowledged','AlertResolved'][k%3],version:1,stream:`alert-${tenant}.${alertId}`,revision:BigInt(k%500),recordedAt:1790000000000+k,metadata:{actor:{kind:'admin',id:randomUUID(),ip:'203.0.113.7',userAgent:'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36'},correlationId:randomUUID(),causationId:commandId,commandId},data}); }
const best:Record<string,number>={};
const t=(name:string,f:(e:any)=>unknown)=>{ const s=process.cpuUsage(); for(const x of all) f(x); const u=process.cpuUsage(s); const v=(u.user+u.system)/N; best[name]=Math.min(best[name]??1e9,v); };
const memo = new Map<number,{names:string[],sorted:string[]}>();
function order(names:string[]):string[]{ const m=memo.get(names.length); if(m){ let i=0; while(i<names.length&&names[i]===m.names[i]) i++; if(i===names.length) return m.sorted; } const sorted=[...names].sort(); memo.set(names.length,{names,sorted}); return sorted; }
function canon2(value:unknown):string{ if(typeof value==='string') return quoted(value); if(typeof value!=='object'||value===null) return JSON.stringify(value); if(Array.isArray(value)){let s='';for(let i=0;i<value.length;i++) s+=(i===0?'':',')+canon2(value[i]);return `[${s}]`;} const o=value as any; let text=''; for(const n of order(Object.keys(o))) text+=`${text===''?'':','}"${n}":${canon2(o[n])}`; return `{${text}}`; }
function sortCopy(value:any):any{ if(typeof value!=='object'||value===null) return value; if(Array.isArray(value)) return value.map(sortCopy); const c:any={}; for(const n of order(Object.keys(value))) c[n]=sortCopy(value[n]); return c; }
const env=({metadata,revision,stream,type,version}:any)=>`{"causationId":${canonicalJson(metadata.causationId)},"commandId":${canonicalJson(metadata.commandId)},"correlationId":${canonicalJson(metadata.correlationId)},"revision":${revision},"stream":${quoted(stream)},"type":${quoted(type)},"version":${version}}`;
const env2=({metadata,revision,stream,type,version}:any)=>JSON.stringify({causationId:metadata.causationId,commandId:metadata.commandId,correlationId:metadata.correlationId,revision:Number(revision),stream,type,version});
const H='0'.repeat(64);
const ent=(e:any,d:string,v:string)=>`{"action":"alert.raised","actorId":${canonicalJson(e.metadata.actor.id)},"actorType":${canonicalJson(e.metadata.actor.kind)},"details":${d},"event":${v},"id":${quoted(e.id)},"ipAddress":${canonicalJson(e.metadata.actor.ip)},"previousHash":"${H}","resourceId":${quoted(e.id)},"resourceType":"alert","sequence":${e.recordedAt},"timestamp":"2026","userAgent":${canonicalJson(e.metadata.actor.userAgent)}}`;
const b=Buffer.alloc(65536); const D=canonicalJson(all[0].data), V=env(all[0]);
for(let r=0;r<10;r++){
 t('canonicalJson',e=>canonicalJson(e.data)); t('canonicalJson+flat',e=>b.write(canonicalJson(e.data))); t('canon2',e=>canon2(e.data)); t('canon2+flat',e=>b.write(canon2(e.data))); t('stringify(sortCopy)',e=>JSON.stringify(sortCopy(e.data)));t('stringify',e=>JSON.stringify(e.data));
 t('env',env); t('env stringify',env2); t('iso',e=>new Date(e.recordedAt).toISOString()); t('ent',e=>ent(e,D,V)); t('ent+flat',e=>b.write(ent(e,D,V))); t('all',e=>b.write(ent(e,canon2(e.data),env(e)))); t('all stringify',e=>b.write(ent(e,JSON.stringify(sortCopy(e.data)),env2(e))));
}
console.log(best); console.log(b.toString('utf8',0,1500).length);
