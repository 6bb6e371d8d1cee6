import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SegmentVerifiers, SegmentVerification } from '../../../src/contexts/audit/chain-segments.ts';
import type { ChainSegment } from '../../../src/contexts/audit/segment-verification.ts';
import { verifySegmentsInThreads } from '../../../src/contexts/audit/segment-verification-threads.ts';
import { evidenceOf } from '../../../src/contexts/audit/verify.ts';
import type { LogAddress } from '../../../src/platform/eventstore/port.ts';
import { startApp } from '../../dsl/app.ts';
import { aDay, ACME, openVaultHouse, type VaultHouse } from './audited-vault.ts';

const COUNT = 30;
const STRETCH = 4;

const feedOf = ({ store }: VaultHouse): LogAddress => store.logAddress!;

describe('a chain that is verified in threads', () => {
  let application: VaultHouse;
  let walked: ChainSegment[];
  let verification: SegmentVerification;
  beforeAll(async () => {
    application = await openVaultHouse();
    await aDay(application, COUNT);
    await application.project();
    await application.seal(ACME);
    await application.project();
    const {
      auditKey,
      evidence: { words },
      database,
    } = application;
    const threads = verifySegmentsInThreads(
      { feed: feedOf(application), database: database.config, auditKey, words },
      STRETCH,
    );
    walked = [];
    verification = { ...threads, open: () => noting(threads.open()!) };
  });
  afterAll(() => application?.close());

  const noting = (walkers: SegmentVerifiers): SegmentVerifiers => ({
    count: walkers.count,
    walk: (stretch) => (walked.push(stretch), walkers.walk(stretch)),
    close: () => walkers.close(),
  });
  const connections = async () =>
    (await application.sql(`select count(*)::int as n from pg_stat_activity where datname = current_database()`))[0]![
      'n'
    ] as number;

  it('uses them in a service, whose store appends only while its log is trusted', () => {
    const services = {
      store: whileTrusted(application.store, new LogTrust()),
      reads: application.evidence.reads,
      config: { dataDir: '/nowhere', auditKey: application.auditKey },
      database: application.database,
      families: application.families,
    } as unknown as ServiceContainer;
    expect(evidenceOf(services).verification).toBeDefined();
  });

  it('is valid if every segment ends where the next begins, and leaves nothing open', async () => {
    expect(await application.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
    const before = await connections();
    expect(await application.verify(ACME, { verification })).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(walked.length).toBe(Math.floor(COUNT / STRETCH));
    expect(walked.map(({ from }) => from.head.sequence)).toEqual(walked.map((_, index) => index * STRETCH));
    await expect.poll(connections).toBeLessThanOrEqual(before);
  });

  it('is verified by the caller while the threads are busy, so that concurrent callers use no more of them', async () => {
    const {
      auditKey,
      evidence: { words },
      database,
    } = application;
    const threads = verifySegmentsInThreads(
      { feed: feedOf(application), database: database.config, auditKey, words },
      STRETCH,
    );
    const another = threads.open()!;
    const opened: unknown[] = [];
    expect(
      await application.verify(ACME, {
        verification: { ...threads, open: () => (opened.push(threads.open()), undefined) },
      }),
    ).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(opened).toEqual([undefined]);
    await another.close();
    const free = threads.open();
    expect(free).toBeDefined();
    await free!.close();
  });

  it('reports tampering as the sequential verification does', async () => {
    const [row] = await application.sql(`select position from audit_log where tenant_id = $1 and sequence = 11`, [
      ACME,
    ]);
    await application.sql(`update audit_log set action = 'door.closed' where tenant_id = $1 and position = $2`, [
      ACME,
      row!['position'],
    ]);
    expect(await application.verify(ACME, { verification })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
  });

  it('is verified by the caller when the threads cannot reach the database', async () => {
    const {
      auditKey,
      evidence: { words },
      database,
    } = application;
    const nowhere = verifySegmentsInThreads(
      { feed: feedOf(application), database: { ...database.config, database: 'nowhere' }, auditKey, words },
      STRETCH,
    );
    expect(await application.verify(ACME, { verification: nowhere })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
    await application.project();
    expect(await application.verify(ACME, { verification: nowhere })).toMatchObject({
      valid: true,
      entriesChecked: COUNT,
    });
  });

  it('is verified by the caller when it is short', async () => {
    walked = [];
    expect(await application.verify(ACME, { verification: { ...verification, stretch: COUNT } })).toMatchObject({
      valid: true,
      entriesChecked: COUNT,
    });
    expect(walked).toEqual([]);
  });
});
