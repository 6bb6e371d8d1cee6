import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceContainer } from '../../../src/app/compose/service-container.ts';
import { HeadSealer } from '../../../src/contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../../src/contexts/audit/seal-alarms.ts';
import { SealFile } from '../../../src/contexts/audit/seal-file.ts';
import { isFound } from '../../../src/platform/is-found.ts';
import { aDay, ACME } from './audited-vault.ts';
import { openSealing } from './sealing.ts';

describe('sealed heads outside the databases that cannot be used', async () => {
  const { application, dataDir, path, executor, services } = await openSealing();
  beforeAll(async () => {
    await aDay(application, 4);
    await application.project();
    await new HeadSealer(services).sealAll();
  });

  it.each([
    ['a folder', () => mkdirSync(path), 'it is a folder'],
    ['a link to nothing', () => symlinkSync(join(dataDir, 'gone'), path), 'it is a link to nothing'],
    ['a loop of links', () => symlinkSync(path, path), 'ELOOP'],
  ])('make /health report that they are %s, until they can be used', async (_, make, why) => {
    const file = readFileSync(path);
    rmSync(path);
    make();
    const reason = `audit heads are not sealed: audit-heads.jsonl cannot be used (${why}); \`castellan doctor\` says what to do`;
    const alarms = new SealAlarms();
    const sealer = new HeadSealer(services, alarms);
    sealer.start();
    await expect.poll(() => alarms.impairment()).toBe(reason);
    await sealer.sealAll();
    expect([alarms.impairment(), alarms.allSealedAt]).toEqual([reason, undefined]);
    rmSync(path, { recursive: true });
    writeFileSync(path, file);
    await sealer.sealAll();
    expect([alarms.impairment(), alarms.allSealedAt]).toEqual([undefined, expect.any(Number)]);
    await sealer.stop();
  });

  it('make /health report that they cannot be written to, and have the seal afterwards', async () => {
    const alarms = new SealAlarms();
    const held = `${path}.held`;
    // When the log has the seal already, a folder is in the place of the file.
    const replacing = {
      execute: async (...asked: Parameters<typeof executor.execute>) => {
        const outcome = await executor.execute(...asked);
        if (!isFound(held)) {
          renameSync(path, held);
          mkdirSync(path);
        }
        return outcome;
      },
    };
    const sealer = new HeadSealer({ ...services, executor: replacing } as unknown as ServiceContainer, alarms);
    await aDay(application, 3, 4);
    await application.project();
    await sealer.sealAll();
    expect(alarms.impairment()).toBe(
      'audit heads are not sealed: audit-heads.jsonl cannot be used (EISDIR); `castellan doctor` says what to do',
    );
    rmSync(path, { recursive: true });
    renameSync(held, path);
    await sealer.sealAll();
    expect(alarms.impairment()).toBeUndefined();
    expect(new SealFile(dataDir).sealsOf(ACME).map(({ sequence }) => sequence)).toEqual([4, 7]);
  });

  it('make /health report without details that something else failed', async () => {
    const alarms = new SealAlarms();
    const database = { projector: { query: () => Promise.reject(new Error('login of secret-host failed')) } };
    const sealer = new HeadSealer({ ...services, database } as unknown as ServiceContainer, alarms);
    await sealer.sealAll();
    expect(alarms.impairment()).toBe(
      'audit heads are not sealed: the latest attempt failed; the log of the process that seals says why',
    );
  });
});
