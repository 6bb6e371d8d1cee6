import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeadSealer } from '../../../src/contexts/audit/head-sealer.ts';
import { SealFile } from '../../../src/contexts/audit/seal-file.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';

/** `/health` of a service on an older copy of the database, with the file of sealed heads of the newer one. */
describe('a database that is older than the file of sealed heads', () => {
  let newer: TestApp;
  let older: TestApp;
  let file: string;
  beforeAll(async () => {
    newer = await startApp();
    const auditKey = newer.config.auditKey;
    older = await startApp({ auditKey });
    await newer.newTenant();
    await newer.settled();
    await new HeadSealer(newer.services).sealAll();
    file = readFileSync(join(newer.config.dataDir, 'audit-heads.jsonl'), 'utf8');
  });
  afterAll(async () => {
    await newer.close();
    await older.close();
  });

  const seals = async ({ anonymous }: TestApp) =>
    (await anonymous.get('/health')).body.dependencies.audit_seals as { status: string; message?: string };
  const degraded = (chains: string) => ({
    status: 'degraded',
    message: expect.stringContaining(
      `audit heads are not sealed: the log lacks a seal that is in the file (${chains}); run \`audit verify\``,
    ) as string,
  });

  it('is reported in /health after the next sealing, also if it does not know a tenant', async () => {
    expect(new SealFile(newer.config.dataDir).newest().size).toBeGreaterThan(0);
    await expect.poll(() => seals(older), { timeout: 10_000 }).toMatchObject({ status: 'healthy' });
    writeFileSync(join(older.config.dataDir, 'audit-heads.jsonl'), file);
    await new HeadSealer(older.services, older.services.sealAlarms).sealAll();
    const chains = new SealFile(newer.config.dataDir).newest().size;
    await expect
      .poll(() => seals(older), { timeout: 10_000 })
      .toMatchObject(degraded(`${chains} ${chains === 1 ? 'chain' : 'chains'}`));
    expect((await older.anonymous.get('/health')).status).toBe(200);
  });

  it('is reported if the log has lost the newest seals of a known tenant', async () => {
    await newer.services.database.owner.query(`delete from events where type = 'AuditHeadSealed'`);
    newer.services.loader.forget();
    await new HeadSealer(newer.services, newer.services.sealAlarms).sealAll();
    await expect
      .poll(() => seals(newer), { timeout: 10_000 })
      .toMatchObject({
        status: 'degraded',
        message: expect.stringContaining('the log lacks a seal that is in the file') as string,
      });
  });
});
