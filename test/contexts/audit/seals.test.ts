import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sealAuditHead } from '../../../commands/audit/seal-audit-head.ts';
import { ChainKey } from '../../../src/contexts/audit/domain/chain-key.ts';
import { SharedRuns } from '../../../src/contexts/audit/shared-runs.ts';
import { HeadSealer } from '../../../src/contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../../src/contexts/audit/seal-alarms.ts';
import { NotAFile } from '../../../src/platform/file-content.ts';
import { Unseen } from '../../../src/platform/is-found.ts';
import type { FiledSeal } from '../../../src/contexts/audit/filed-seals.ts';
import { SealFile } from '../../../src/contexts/audit/seal-file.ts';
import { evidenceOf, verifyChain, verifyTenant } from '../../../src/contexts/audit/verify.ts';
import { tenantReads } from '../../../src/platform/database/tenant-reads.ts';
import { auditHeadStream, type SealedHead } from '../../../src/contexts/audit/domain/sealed-head.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { ServiceContainer } from '../../../src/app/compose/service-container.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { given } from '../../dsl/given.ts';
import { aDay, ACME, openAuditedVault, OTHER, type AuditedVault } from './audited-vault.ts';

const HASH = '0a'.repeat(32);
const seal = (sequence: number, previous: string, mac: string): SealedHead => ({
  sequence,
  hash: HASH,
  position: '7',
  previous,
  mac,
});
const first = seal(3, '00'.repeat(32), '01'.repeat(32));

describe('sealing a head', () => {
  it('is recorded after the previous seal', () => {
    const second = seal(5, first.mac, '02'.repeat(32));
    given({ type: 'AuditHeadSealed', data: first })
      .when(sealAuditHead, second)
      .then({ type: 'AuditHeadSealed', data: second });
  });

  it('happens once under concurrency', () =>
    given({ type: 'AuditHeadSealed', data: first }).when(sealAuditHead, first).thenNothing());

  it('is refused to a process that did not know the newest seal', () =>
    given({ type: 'AuditHeadSealed', data: first })
      .when(sealAuditHead, seal(5, '00'.repeat(32), '02'.repeat(32)))
      .thenRefused('conflict'));
});

describe('the seal file', () => {
  let folder: string;
  const path = () => join(folder, 'audit-heads.jsonl');
  beforeEach(() => {
    folder = mkdtempSync('/tmp/castellan-seals-');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const filed = (sequence: number, tenantId = ACME): FiledSeal => ({ tenantId, ...seal(sequence, HASH, HASH) });

  it('returns what was written, by tenant, and is readable by its owner only', () => {
    const file = new SealFile(folder);
    expect([file.sealsOf(ACME), file.newest().size]).toEqual([[], 0]);
    file.append([filed(3), filed(1, OTHER)]);
    file.append([filed(8)]);
    expect(new SealFile(folder).sealsOf(ACME)).toEqual([filed(3), filed(8)]);
    expect(new Map(file.newest())).toEqual(
      new Map([
        [ACME, filed(8)],
        [OTHER, filed(1, OTHER)],
      ]),
    );
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('is not taken for empty if nobody can tell whether it is there', () => {
    symlinkSync(path(), path());
    expect(() => new SealFile(folder).newest()).toThrow(Unseen);
  });

  it.each([
    ['a link to nothing', () => symlinkSync(join(folder, 'gone'), path())],
    ['a folder', () => mkdirSync(path())],
    ['a named pipe', () => makeNamedPipe(path())],
  ])('is not taken for empty, waited for or written to if it is %s', (kind, make) => {
    const stop: unknown = make();
    for (const look of ['newest', 'damagedLines', 'owners'] as const)
      expect(() => new SealFile(folder)[look]()).toThrow(new NotAFile(path(), kind));
    expect(() => new SealFile(folder).append([filed(3)])).toThrow();
    if (typeof stop === 'function') (stop as () => void)();
  });

  it('counts lines that are no seals, and nothing that a crash left', () => {
    const file = new SealFile(folder);
    expect(file.damagedLines()).toBe(0);
    file.append([filed(3)]);
    appendFileSync(path(), `${JSON.stringify(filed(4)).slice(0, 60)}\n{\n\0\0\0\n{"tenantId":"a\0\0\n\n`);
    file.append([filed(5)]);
    writeFileSync(path(), readFileSync(path(), 'utf8').replaceAll('\n', '\r\n'));
    expect([file.damagedLines(), file.sealsOf(ACME)]).toEqual([0, [filed(3), filed(5)]]);
    appendFileSync(path(), 'garbage\n{"another":"object"}\n\u0001\u0002\n');
    expect([file.damagedLines(), file.sealsOf(ACME)]).toEqual([3, [filed(3), filed(5)]]);
  });

  it('has all its seals after an editor has put a mark in front of them', () => {
    const file = new SealFile(folder);
    file.append([filed(3)]);
    writeFileSync(path(), `\uFEFF${readFileSync(path(), 'utf8').trim()}\n`);
    expect([file.damagedLines(), file.sealsOf(ACME)]).toEqual([0, [filed(3)]]);
  });

  it('loses nothing because of a line that a crash has truncated', () => {
    const file = new SealFile(folder);
    file.append([filed(3)]);
    appendFileSync(path(), JSON.stringify(filed(4)).slice(0, 60));
    file.append([filed(5)]);
    expect(file.sealsOf(ACME)).toEqual([filed(3), filed(5)]);
  });

  it('drops old seals when it grows large, and keeps the newest of every tenant', () => {
    const lines = Array.from({ length: 40_000 }, (_, n) => `${JSON.stringify(filed(n + 2))}\n`);
    writeFileSync(path(), `${JSON.stringify(filed(1, OTHER))}\n${lines.join('')}`);
    const file = new SealFile(folder);
    file.append([filed(50_000)]);
    expect(file.sealsOf(ACME).map(({ sequence }) => sequence)).toEqual([
      ...Array.from({ length: 15 }, (_, n) => 39_987 + n),
      50_000,
    ]);
    expect(file.sealsOf(OTHER)).toEqual([filed(1, OTHER)]);
    expect(readFileSync(path()).length).toBeLessThan(10_000);
  });
});

describe('the sealer', async () => {
  const application: AuditedVault = await openAuditedVault();
  const dataDir = mkdtempSync('/tmp/castellan-seals-');
  afterAll(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    await application.close();
  });
  const alarms: string[] = [];
  const log = pino(
    { level: 'error' },
    {
      write(line: string) {
        const { tenantId, reason } = JSON.parse(line) as { tenantId: string; reason: string };
        if (tenantId === ACME) alarms.push(reason);
      },
    },
  );
  const loader = new AggregateLoader(application.store, application.codec);
  const executor = new Executor(
    application.store,
    application.codec,
    loader,
    (value) => value,
    () => ({ ports: {}, compensate: async () => {} }),
  );
  const config = { dataDir };
  const chainKey = new ChainKey(application.auditKey);
  const projector = { livePositions: async () => new Map([['audit_log', await application.store.head()]]) };
  const services = {
    store: application.store,
    database: application.database,
    families: application.families,
    reads: tenantReads(application.database.reads).ordinary,
    projector,
    loader,
    executor,
    config,
    chainKey,
    verifications: new SharedRuns(),
    log,
    trust: new LogTrust(),
  } as unknown as ServiceContainer;
  const inLog = async (tenantId = ACME) =>
    (await application.store.readStream(auditHeadStream(tenantId))).map(({ data }) => (data as SealedHead).sequence);
  const inFile = (tenantId = ACME) => new SealFile(dataDir).sealsOf(tenantId).map(({ sequence }) => sequence);
  const verdict = () => verifyTenant(services, ACME);

  it('seals changed chains, in the log and in the file, and none twice', async () => {
    const sealer = new HeadSealer(services);
    await aDay(application, 4);
    await application.project();
    await sealer.sealAll();
    await sealer.sealAll();
    await aDay(application, 3, 4);
    await application.project();
    await sealer.stop();
    expect([await inLog(), inFile(), await inLog(OTHER), inFile(OTHER)]).toEqual([
      [4, 7],
      [4, 7],
      [2, 3],
      [2, 3],
    ]);
    expect(await verdict()).toMatchObject({ valid: true, entriesChecked: 7 });
  });

  it('OP-596 seals nothing at the end of a process that did nothing', async () => {
    await aDay(application, 2, 7);
    await application.project();
    const sealer = new HeadSealer(services);
    sealer.start();
    await sealer.stop();
    expect([await inLog(), inFile()]).toEqual([
      [4, 7],
      [4, 7],
    ]);
  });

  it('keeps out of the file what it sealed while the log came into doubt', async () => {
    const trust = new LogTrust();
    const doubting = {
      execute: async (...asked: Parameters<typeof executor.execute>) => {
        const outcome = await executor.execute(...asked);
        trust.contradicted('log_older', 'another process says so');
        return outcome;
      },
    };
    await new HeadSealer({ ...services, trust, executor: doubting as unknown as typeof services.executor }).sealAll();
    expect([await inLog(), inFile()]).toEqual([
      [4, 7, 9],
      [4, 7],
    ]);
  });

  it('agrees with another one that seals concurrently', async () => {
    await Promise.all([new HeadSealer(services).sealAll(), new HeadSealer(services).sealAll()]);
    expect([await inLog(), [...new Set(inFile())]]).toEqual([
      [4, 7, 9],
      [4, 7, 9],
    ]);
    expect(await verdict()).toMatchObject({ valid: true });
  });

  it('writes the seals of another process from the log to the file', async () => {
    rmSync(join(dataDir, 'audit-heads.jsonl'));
    await new HeadSealer(services).sealAll();
    expect([await inLog(), inFile()]).toEqual([[4, 7, 9], [9]]);
  });

  it('raises the alarm and seals nothing if table and log disagree', async () => {
    const putBack = await application.snapshot('agreed');
    await aDay(application, 2, 9);
    await application.project();
    await application.sql(`update audit_log set hash = repeat('0', 64) where tenant_id = $1 and position = 0`, [ACME]);
    await new HeadSealer(services).sealAll();
    expect([alarms.splice(0), await inLog(), inFile()]).toEqual([
      ['log and audit table contradict each other'],
      [4, 7, 9],
      [9],
    ]);
    await putBack();
  });

  it('raises the alarm if the log has lost a seal that the file has', async () => {
    await application.sql(`delete from events where type = 'AuditHeadSealed' and tenant_id = $1 and revision = 2`, [
      ACME,
    ]);
    await new HeadSealer(services).sealAll();
    expect(alarms.splice(0)).toEqual(['the log lacks a seal that is in the file']);
    expect(await verdict()).toMatchObject({ valid: false, reason: 'seal_missing', firstInvalidSequence: 8 });
  });

  it('shares one verification among all concurrent callers', async () => {
    const [one, other] = await Promise.all([verdict(), verdict()]);
    expect(one).toBe(other);
    expect(await verdict()).not.toBe(one);
  });
});

describe('the sealed heads outside the databases', async () => {
  const application = await openAuditedVault();
  const dataDir = mkdtempSync('/tmp/castellan-seals-');
  const path = join(dataDir, 'audit-heads.jsonl');
  const lines: string[] = [];
  afterAll(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    await application.close();
  });
  const loader = new AggregateLoader(application.store, application.codec);
  const executor = new Executor(
    application.store,
    application.codec,
    loader,
    (value) => value,
    () => ({ ports: {}, compensate: async () => {} }),
  );
  const services = {
    store: application.store,
    database: application.database,
    families: application.families,
    reads: tenantReads(application.database.reads).ordinary,
    projector: { livePositions: async () => new Map([['audit_log', await application.store.head()]]) },
    loader,
    executor,
    config: { dataDir },
    chainKey: new ChainKey(application.auditKey),
    verifications: new SharedRuns(),
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    trust: new LogTrust(),
  } as unknown as ServiceContainer;

  it('are recorded in the log, which is evidence if database and data directory were rolled back together', async () => {
    await aDay(application, 4);
    await application.project();
    await new HeadSealer(services).sealAll();
    const putBack = await application.snapshot('rolled_back');
    const file = readFileSync(path);
    await aDay(application, 3, 4);
    await application.project();
    await new HeadSealer(services).sealAll();
    const told = lines
      .map((line) => JSON.parse(line) as FiledSeal & { msg: string })
      .filter(({ tenantId }) => tenantId === ACME);
    expect(told).toEqual(
      new SealFile(dataDir).sealsOf(ACME).map((one) => expect.objectContaining({ ...one, msg: 'audit head sealed' })),
    );
    writeFileSync(join(dataDir, 'service.log'), lines.join(''));
    await putBack();
    writeFileSync(path, file);
    expect(await verifyChain(evidenceOf(services), ACME)).toMatchObject({ valid: true });
    expect(await verifyChain(evidenceOf(services, new SealFile(dataDir, 'service.log')), ACME)).toMatchObject({
      valid: false,
      reason: 'log_truncated',
      firstInvalidSequence: 5,
    });
  });

  it('make /health report, without naming a tenant, that the file is ahead of the log', async () => {
    const alarms = new SealAlarms();
    const sealer = new HeadSealer(services, alarms);
    const file = readFileSync(path);
    writeFileSync(path, lines.join(''));
    const early = new SealAlarms();
    const starting = new HeadSealer(services, early);
    starting.start();
    await expect.poll(() => early.impairment()).toContain('the log lacks a seal that is in the file (2 chains)');
    await starting.stop();
    await sealer.sealAll();
    expect(alarms.impairment()).toBe(
      'audit heads are not sealed: the log lacks a seal that is in the file (2 chains); run `audit verify`, and `restore status` after a restore',
    );
    writeFileSync(path, file);
    await sealer.sealAll();
    expect(alarms.impairment()).toBeUndefined();
  });
});

describe('a read model that lags', async () => {
  const application = await openAuditedVault();
  afterAll(() => application.close());

  it('is verified as far as it has come, and no further', async () => {
    await aDay(application, 6);
    await application.project();
    const projected = await application.store.head();
    application.evidence.projectedTo = (position) => Promise.resolve(position < projected ? position : projected);
    await aDay(application, 3, 6);
    await expect(application.verify()).rejects.toThrow('the audit log is behind');
    await application.sql('delete from audit_log where tenant_id = $1 and sequence = 2 and position > 0', [ACME]);
    expect(await application.verify()).toMatchObject({
      valid: false,
      reason: 'entry_missing',
      firstInvalidSequence: 2,
    });
  });

  it('does not lag because of events outside the chain', async () => {
    await application.project();
    const projected = await application.store.head();
    application.evidence.projectedTo = (position) => Promise.resolve(position < projected ? position : projected);
    await application.happen(`sensor-${ACME}.s`, [{ type: 'DoorSeen', data: { door: 'd' } }], ACME);
    expect(await application.verify()).toMatchObject({ valid: true, entriesChecked: 9 });
  });
});
