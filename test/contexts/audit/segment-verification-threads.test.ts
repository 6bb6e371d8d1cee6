import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SegmentVerifiers, SegmentVerification } from '../../../src/contexts/audit/chain-segments.ts';
import type { ChainSegment } from '../../../src/contexts/audit/segment-verification.ts';
import { verifySegmentsInThreads } from '../../../src/contexts/audit/segment-verification-threads.ts';
import { evidenceOf } from '../../../src/contexts/audit/verify.ts';
import { startApp } from '../../dsl/app.ts';
import { aDay, ACME, openAuditedVault, type AuditedVault } from './audited-vault.ts';

const COUNT = 30;
const SEGMENT_SIZE = 4;

/** The threads of a process whose read models are in this database. */
const threadsOf = ({ auditKey, evidence: { words }, database, store }: AuditedVault, over: object = {}) =>
  verifySegmentsInThreads(
    { log: store.logAddress!, database: { ...database.config, ...over }, auditKey, words },
    SEGMENT_SIZE,
  );

describe('a chain that is verified in threads', () => {
  let vault: AuditedVault;
  let verified: ChainSegment[];
  let verification: SegmentVerification;
  beforeAll(async () => {
    vault = await openAuditedVault();
    await aDay(vault, COUNT);
    await vault.project();
    await vault.seal(ACME);
    await vault.project();
    const threads = threadsOf(vault);
    verified = [];
    verification = { ...threads, open: () => noting(threads.open()!) };
  });
  afterAll(() => vault?.close());

  const noting = (verifiers: SegmentVerifiers): SegmentVerifiers => ({
    count: verifiers.count,
    verify: (segment) => (verified.push(segment), verifiers.verify(segment)),
    close: () => verifiers.close(),
  });
  const connections = async () =>
    (await vault.sql(`select count(*)::int as n from pg_stat_activity where datname = current_database()`))[0]![
      'n'
    ] as number;

  it('is verified in threads by the application, whose store writes only while its log is trusted', async () => {
    const app = await startApp();
    try {
      expect(evidenceOf(app.services).verification).toBeDefined();
    } finally {
      await app.close();
    }
  });

  it('is valid if every segment ends where the next begins, and leaves no connection open', async () => {
    expect(await vault.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
    const before = await connections();
    expect(await vault.verify(ACME, { verification })).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(verified.length).toBe(Math.floor(COUNT / SEGMENT_SIZE));
    expect(verified.map(({ from }) => from.head.sequence)).toEqual(verified.map((_, index) => index * SEGMENT_SIZE));
    await expect.poll(connections).toBeLessThanOrEqual(before);
  });

  it('is verified on the thread of the caller while the threads verify another chain', async () => {
    const threads = threadsOf(vault);
    const another = threads.open()!;
    const opened: unknown[] = [];
    expect(
      await vault.verify(ACME, { verification: { ...threads, open: () => (opened.push(threads.open()), undefined) } }),
    ).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(opened).toEqual([undefined]);
    await another.close();
    const free = threads.open();
    expect(free).toBeDefined();
    await free!.close();
  });

  it('names tampering as a verification on one thread does', async () => {
    const [row] = await vault.sql(`select position from audit_log where tenant_id = $1 and sequence = 11`, [ACME]);
    await vault.sql(`update audit_log set action = 'door.closed' where tenant_id = $1 and position = $2`, [
      ACME,
      row!['position'],
    ]);
    expect(await vault.verify(ACME, { verification })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
  });

  it('is verified on the thread of the caller if the threads cannot reach the database', async () => {
    const nowhere = threadsOf(vault, { database: 'nowhere' });
    expect(await vault.verify(ACME, { verification: nowhere })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
    await vault.project();
    expect(await vault.verify(ACME, { verification: nowhere })).toMatchObject({ valid: true, entriesChecked: COUNT });
  });

  it('is verified on the thread of the caller if it is short', async () => {
    verified = [];
    expect(await vault.verify(ACME, { verification: { ...verification, size: COUNT } })).toMatchObject({
      valid: true,
      entriesChecked: COUNT,
    });
    expect(verified).toEqual([]);
  });
});
