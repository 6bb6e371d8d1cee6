import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceContainer } from '../../../src/app/compose/service-container.ts';
import { auditHeadStream, sealHead } from '../../../src/contexts/audit/domain/sealed-head.ts';
import type { FiledSeal } from '../../../src/contexts/audit/filed-seals.ts';
import { HeadSealer } from '../../../src/contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../../src/contexts/audit/seal-alarms.ts';
import { SealFile } from '../../../src/contexts/audit/seal-file.ts';
import { temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
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

  it('make /health report an outage no longer than it lasts, and the log once', async () => {
    const alarms = new SealAlarms();
    const logged: string[] = [];
    const log = { ...services.log, error: (_: object, message: string) => logged.push(message) };
    let failures = 3;
    const { projector } = services.database;
    const failing = Object.assign(Object.create(projector) as typeof projector, {
      query: (sql: string) => ((failures -= 1) >= 0 ? Promise.reject(new Error('away')) : projector.query(sql)),
    });
    const database = { ...services.database, projector: failing };
    const sealer = new HeadSealer({ ...services, log, database } as unknown as ServiceContainer, alarms, {
      againMs: 20,
    });
    sealer.start();
    await sealer.sealAll();
    expect(alarms.impairment()).toContain('the latest attempt failed');
    await expect.poll(() => alarms.allSealedAt).toEqual(expect.any(Number));
    expect([alarms.impairment(), logged]).toEqual([undefined, ['audit heads could not be sealed']]);
    await sealer.stop();
  });

  it('make /health report a store that is away', async () => {
    const alarms = new SealAlarms();
    await aDay(application, 1, 7);
    await application.project();
    const unavailable = { execute: () => Promise.resolve(temporarilyUnavailable()) };
    const sealer = new HeadSealer({ ...services, executor: unavailable } as unknown as ServiceContainer, alarms);
    await sealer.sealAll();
    expect([alarms.impairment(), alarms.allSealedAt]).toEqual([
      expect.stringContaining('the latest attempt failed'),
      undefined,
    ]);
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

describe('sealed heads outside the databases that are not those of the log', async () => {
  const { application, dataDir, path, services } = await openSealing();
  const alarms = new SealAlarms();
  const impairment = (reason: string) =>
    `audit heads are not sealed: ${reason} (1 chain); run \`audit verify\`, and \`restore status\` after a restore`;
  const sequences = () => new SealFile(dataDir).sealsOf(ACME).map(({ sequence }) => sequence);
  const sealedHeads = async () => [
    new SealFile(dataDir).sealsOf(ACME),
    (await application.store.readStream(auditHeadStream(ACME))).length,
  ];
  const changed = (line: number, change: Partial<FiledSeal>) => {
    const all = new SealFile(dataDir).sealsOf(ACME);
    writeFileSync(
      path,
      all.map((seal, n) => `${JSON.stringify(n === line ? { ...seal, ...change } : seal)}\n`).join(''),
    );
  };
  const grow = async (count: number, from: number) => {
    await aDay(application, count, from);
    await application.project();
  };

  /** The file as it would be after the same application has gone another way. */
  function fork(): void {
    const [first] = new SealFile(dataDir).sealsOf(ACME) as FiledSeal[];
    const head = { sequence: 5, hash: '0a'.repeat(32) };
    const other = sealHead(services.chainKey, ACME, head, BigInt(first!.position) + 1n, first!);
    writeFileSync(path, `${JSON.stringify(first)}\n${JSON.stringify({ tenantId: ACME, ...other })}\n`);
  }

  /** At the start, in each round, and no more once the file is back. */
  async function expectNoneSealed(reason: string, file: Buffer): Promise<void> {
    const atStart = new SealAlarms();
    const starting = new HeadSealer(services, atStart);
    starting.start();
    await expect.poll(() => atStart.impairment()).toBe(impairment(reason));
    await starting.stop();
    const before = await sealedHeads();
    const sealer = new HeadSealer(services, alarms);
    await sealer.sealAll();
    await sealer.sealAll();
    expect(alarms.impairment()).toBe(impairment(reason));
    expect(await sealedHeads()).toEqual(before);
    writeFileSync(path, file);
    await sealer.sealAll();
    expect(alarms.impairment()).toBeUndefined();
  }

  beforeAll(async () => {
    for (const from of [0, 4, 8]) {
      await grow(4, from);
      await new HeadSealer(services).sealAll();
    }
  });

  it('stop sealing if they are of another copy of the database, and sealed below the newest seal of the log', async () => {
    const file = readFileSync(path);
    fork();
    await grow(2, 12);
    await expectNoneSealed('the log lacks a seal that is in the file', file);
    expect(sequences()).toEqual([4, 8, 12, 14]);
  });

  it.each([
    ['the MAC of the newest', -1, { mac: '0'.repeat(64) }],
    ['the MAC of an earlier one', 1, { mac: '0'.repeat(64) }],
    ['a hash', 0, { hash: '0'.repeat(64) }],
    ['the sequence of the newest', -1, { sequence: 99 }],
    ['a type, which is no reason to fail', -1, { mac: undefined }],
  ])('stop sealing if somebody has changed %s', async (_, line, change) => {
    const file = readFileSync(path);
    changed(line < 0 ? sequences().length + line : line, change);
    await expectNoneSealed('a seal in the file was changed', file);
  });

  it('stop a chain that this process has sealed before, and the next seal follows when they are back', async () => {
    const sealer = new HeadSealer(services, alarms);
    await sealer.sealAll();
    const file = readFileSync(path);
    fork();
    await grow(3, 14);
    await sealer.sealAll();
    expect([alarms.impairment(), sequences()]).toEqual([
      impairment('the log lacks a seal that is in the file'),
      [4, 5],
    ]);
    writeFileSync(path, file);
    await sealer.sealAll();
    expect([alarms.impairment(), sequences()]).toEqual([undefined, [4, 8, 12, 14, 17]]);
  });

  it('are continued if an earlier copy of the file is back', async () => {
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, lines.filter((line) => !/"sequence":1[47]/.test(line)).join('\n'));
    await new HeadSealer(services, alarms).sealAll();
    expect([alarms.impairment(), sequences()]).toEqual([undefined, [4, 8, 12, 17]]);
  });
});
