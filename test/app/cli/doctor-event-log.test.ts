import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineLog } from '../../../src/app/operations/examined-log.ts';
import { HeadSealer } from '../../../src/contexts/audit/head-sealer.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const SEALED_HEAD = JSON.stringify({
  tenantId: '0198a000-0000-7000-8000-000000000001',
  sequence: 9,
  mac: 'f'.repeat(64),
});

describe('the event log that castellan doctor compares with the tables', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());
  const look = (dataDir = app.config.dataDir) =>
    examineLog({ eventStoreUrl: undefined, dataDir })(app.services.database.owner, {});
  const sql = (text: string) => app.services.database.owner.query(text);

  it('is fine if it belongs to them', async () => {
    await app.newTenant();
    await app.settled();
    expect(await look()).toEqual([{ verdict: 'fine', message: 'it belongs to these tables' }]);
  });

  it('OP-567 is a finding if a running process has recorded a mismatch', async () => {
    await sql(`update log_watch set doubt = 'it went back', mismatch = 'log_older', doubted_at = now()`);
    expect(await look()).toEqual([
      {
        verdict: 'finding',
        message: expect.stringMatching(/^log_older: it went back\. .*restore accept-log/) as string,
      },
    ]);
    await sql('update log_watch set doubt = null, mismatch = null, doubted_at = null');
  });

  it('is a finding if a restore was interrupted, whatever else processes have recorded', async () => {
    await sql(`insert into unfinished_restore (id, command, mismatch, reason, log_end, tables_reached, heads_dropped, persons_lost)
      values (gen_random_uuid(), 'accept-log', 'log_older', 'a fire', 1, 2, '[]', 0)`);
    await sql(`update log_watch set doubt = 'it went back', mismatch = 'log_older', doubted_at = now()`);
    expect(await look()).toEqual([
      {
        verdict: 'finding',
        message: 'log_older: `castellan restore accept-log` was interrupted: run it again, and it goes on from there',
      },
    ]);
    await sql('delete from unfinished_restore');
    await sql('update log_watch set doubt = null, mismatch = null, doubted_at = null');
  });

  it('OP-567 is a finding if it lacks sealed heads of audit-heads.jsonl', async () => {
    const { tenantId } = await app.newTenant();
    const place = scratchFolder('doctor-heads');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'audit-heads.jsonl'), JSON.stringify({ tenantId, sequence: 9, mac: 'f'.repeat(64) }));
    expect(await look(place)).toEqual([
      { verdict: 'finding', message: expect.stringContaining('sealed heads of 1 chains') as string },
    ]);
    rmSync(place, { recursive: true });
  });

  it('OP-567 is a finding if a sealed head of audit-heads.jsonl was changed, also without its MAC', async () => {
    await app.newTenant();
    await app.settled();
    const place = scratchFolder('doctor-changed-heads');
    mkdirSync(place, { recursive: true });
    await new HeadSealer({ ...app.services, config: { ...app.config, dataDir: place } }).sealAll();
    const path = join(place, 'audit-heads.jsonl');
    const sealed = readFileSync(path, 'utf8');
    expect(await look(place)).toMatchObject([{ verdict: 'fine' }]);
    for (const changed of ['"sequence":99', `"hash":"${'0'.repeat(64)}"`, '"position":"99"']) {
      const field = changed.split(':')[0]!;
      writeFileSync(path, sealed.replace(new RegExp(`${field}:(?:\\d+|"[^"]*")`), changed));
      expect([changed, await look(place)]).toEqual([
        changed,
        [{ verdict: 'finding', message: expect.stringContaining('sealed heads of 1 chains') as string }],
      ]);
    }
    rmSync(place, { recursive: true });
  });

  it('OP-567 is a finding if there is none, and audit-heads.jsonl knows some of another database', async () => {
    const empty = { query: () => Promise.resolve({ rows: [{ exist: false }] }) } as unknown as Pool;
    const place = scratchFolder('doctor-heads');
    const lookAtEmpty = () => examineLog({ eventStoreUrl: undefined, dataDir: place })(empty, {});
    expect(await lookAtEmpty()).toMatchObject([{ verdict: 'fine' }]);
    writeFileSync(join(place, 'audit-heads.jsonl'), SEALED_HEAD);
    expect(await lookAtEmpty()).toEqual([
      { verdict: 'finding', message: expect.stringContaining('sealed heads of 1 chains') as string },
    ]);
    rmSync(place, { recursive: true });
  });

  it('OP-567 is a finding if the tables have come further', async () => {
    await sql('update cursors set position = position + 1000000');
    expect(await look()).toEqual([
      { verdict: 'finding', message: expect.stringContaining('is older than its tables') as string },
    ]);
    await sql('update cursors set position = position - 1000000');
  });
});
