import { randomBytes, randomUUID, createHmac, hash } from 'node:crypto';
import { canonicalJson } from '../src/domain/audit/canonical-json.ts';
import { entryHash, nextEntry, GENESIS } from '../src/domain/audit/entry.ts';
const key = randomBytes(32), tenant=randomUUID(), person=randomUUID();
const N=50000; const all:any[]=[];
for (let k=0;k<N;k++){ const alertId=randomUUID(), commandId=randomUUID();
 const data = JSON.parse(JSON.stringify(k % 3 === 0 ? { alertId, alertType: 'password_reuse', severity: 'medium', title: 'Password reused', description: 'The same password on two sites '+'x'.repeat(60), fingerprint: 'password_reuse|'+person, userId: person, deviceId: randomUUID(), domain: 'example.com', url: '[sealed]', cause: randomUUID(), metadata: { count: k }, $sealed:{person, value:randomBytes(60).toString('base64')} } : k%3===1? { alertId, notes: 'looking at it, '+'y'.repeat(100) }: { alertId, status: 'resolved', resolution: 'the person has changed it '+'z'.repeat(80), fingerprint: 'password_reuse|'+person }));
 all.push({id:randomUUID(),type:['AlertRaised','AlertAcknowledged','AlertResolved'][k%3],version:1,stream:`alert-${tenant}.${alertId}`,revision:BigInt(k%500),recordedAt:1790000000000+k,metadata:{actor:{kind:'admin',id:randomUUID(),ip:'203.0.113.7',userAgent:'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36'},correlationId:randomUUID(),causationId:commandId,commandId},data}); }
const words={action:'alert.raised',resourceType:'alert',idField:undefined};
const cpu=(name:string,f:()=>void)=>{ const c=process.cpuUsage(); f(); const u=process.cpuUsage(c); console.log(name.padEnd(30),((u.user+u.system)/N).toFixed(2)); };
let texts:string[]=[];
for(let r=0;r<3;r++){
 cpu('canonical details',()=>{for(const e of all) canonicalJson(e.data);});
 cpu('nextEntry',()=>{let h:any=GENESIS; for(const e of all) h=nextEntry(key,h,e,e,words);});
 cpu('nextEntry kept',()=>{let h:any=GENESIS; const keep=[]; for(const e of all) keep.push(h=nextEntry(key,h,e,e,words)); });
 texts = all.map((e,i)=> (JSON.stringify(e,(k,v)=>typeof v==='bigint'?Number(v):v)+'x'.repeat(80)));
 if(r===0) console.log('avg len', texts.reduce((a,t)=>a+t.length,0)/N);
 cpu('hmac flat', ()=>{ for(const t of texts) createHmac('sha256',key).update(t).digest('hex'); });
 cpu('hash flat', ()=>{ for(const t of texts) hash('sha256',t,'hex'); });
 cpu('hash flat buffer out', ()=>{ for(const t of texts) hash('sha256',t,'buffer'); });
 const b=Buffer.alloc(65536);
 cpu('utf8 write', ()=>{ for(const t of texts) b.write(t,0,'utf8'); });
 cpu('latin1 write', ()=>{ for(const t of texts) b.write(t,0,'latin1'); });
 cpu('hash buf', ()=>{ for(const t of texts) hash('sha256',b.subarray(0,t.length),'hex'); });
}
