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

describe('a chain that is walked in threads', () => {
  let house: VaultHouse;
  let walked: ChainSegment[];
  let verification: SegmentVerification;
  beforeAll(async () => {
    house = await openVaultHouse();
    await aDay(house, COUNT);
    await house.project();
    await house.seal(ACME);
    await house.project();
    const {
      auditKey,
      evidence: { words },
      database,
    } = house;
    const threads = verifySegmentsInThreads(
      { feed: feedOf(house), database: database.config, auditKey, words },
      STRETCH,
    );
    walked = [];
    verification = { ...threads, open: () => noting(threads.open()!) };
  });
  afterAll(() => house?.close());

  const noting = (walkers: SegmentVerifiers): SegmentVerifiers => ({
    count: walkers.count,
    walk: (stretch) => (walked.push(stretch), walkers.walk(stretch)),
    close: () => walkers.close(),
  });
  const connections = async () =>
    (await house.sql(`select count(*)::int as n from pg_stat_activity where datname = current_database()`))[0]![
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

  it('holds when every stretch comes to where the next begins, and leaves nothing open', async () => {
    expect(await house.verify()).toMatchObject({ valid: true, entriesChecked: COUNT });
    const before = await connections();
    expect(await house.verify(ACME, { verification })).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(walked.length).toBe(Math.floor(COUNT / STRETCH));
    expect(walked.map(({ from }) => from.head.sequence)).toEqual(walked.map((_, index) => index * STRETCH));
    await expect.poll(connections).toBeLessThanOrEqual(before);
  });

  it('is walked by who asks while the threads are at another one, so that many who ask at once take no more of them', async () => {
    const {
      auditKey,
      evidence: { words },
      database,
    } = house;
    const threads = verifySegmentsInThreads(
      { feed: feedOf(house), database: database.config, auditKey, words },
      STRETCH,
    );
    const another = threads.open()!;
    const opened: unknown[] = [];
    expect(
      await house.verify(ACME, { verification: { ...threads, open: () => (opened.push(threads.open()), undefined) } }),
    ).toMatchObject({ valid: true, entriesChecked: COUNT });
    expect(opened).toEqual([undefined]);
    await another.close();
    const free = threads.open();
    expect(free).toBeDefined();
    await free!.close();
  });

  it('says of tampering what the walk by one says', async () => {
    const [row] = await house.sql(`select position from audit_log where tenant_id = $1 and sequence = 11`, [ACME]);
    await house.sql(`update audit_log set action = 'door.closed' where tenant_id = $1 and position = $2`, [
      ACME,
      row!['position'],
    ]);
    expect(await house.verify(ACME, { verification })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
  });

  it('is walked by who asks when the threads cannot reach the database', async () => {
    const {
      auditKey,
      evidence: { words },
      database,
    } = house;
    const nowhere = verifySegmentsInThreads(
      { feed: feedOf(house), database: { ...database.config, database: 'nowhere' }, auditKey, words },
      STRETCH,
    );
    expect(await house.verify(ACME, { verification: nowhere })).toMatchObject({
      valid: false,
      firstInvalidSequence: 11,
      reason: 'entry_changed',
    });
    await house.project();
    expect(await house.verify(ACME, { verification: nowhere })).toMatchObject({ valid: true, entriesChecked: COUNT });
  });

  it('is walked by who asks when it is short', async () => {
    walked = [];
    expect(await house.verify(ACME, { verification: { ...verification, stretch: COUNT } })).toMatchObject({
      valid: true,
      entriesChecked: COUNT,
    });
    expect(walked).toEqual([]);
  });
});
