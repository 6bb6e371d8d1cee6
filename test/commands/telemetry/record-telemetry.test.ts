import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordHeartbeat } from '../../../commands/telemetry/record-heartbeat.ts';
import { recordTelemetry } from '../../../commands/telemetry/record-telemetry.ts';
import { deviceDay } from '../../../src/contexts/telemetry/domain/device-day.ts';
import { hasId, noIds, withIds } from '../../../src/contexts/telemetry/domain/seen-ids.ts';
import { context, given, NOW } from '../../dsl/given.ts';
import { DAY, DEVICE, login, telemetry, USER } from '../../dsl/observations.ts';

const batchOf = (observations: ReturnType<typeof login>[]) => ({
  deviceId: DEVICE,
  userId: USER,
  day: DAY,
  deviceSequence: null,
  extensionMode: 'learning',
  policyVersion: 'abc',
  observations,
});

describe('recording telemetry', () => {
  it('records one event per batch', () => {
    const observations = [login(), login()];
    const outcome = given().when(recordTelemetry, batchOf(observations));
    outcome.then(telemetry(observations));
    expect(outcome.result()).toEqual({ accepted: 2, duplicates: 0, refused: [] });
  });

  it('writes nothing for a repeated batch', () => {
    const observations = [login(), login()];
    const outcome = given(telemetry(observations)).when(recordTelemetry, batchOf(observations));
    outcome.thenNothing();
    expect(outcome.result()).toEqual({ accepted: 0, duplicates: 2, refused: [] });
  });

  it('records only the new observations of batches that overlap, in any order', () => {
    const [one, two, three, four] = [login(), login(), login(), login()] as const;
    const outcome = given(telemetry([three]), telemetry([one])).when(recordTelemetry, batchOf([four, three, two, one]));
    outcome.then(telemetry([four, two]));
    expect(outcome.result()).toEqual({ accepted: 2, duplicates: 2, refused: [] });
  });

  it('stops when a device reports more per day than any browser sees', () => {
    const full = { ...deviceDay.initial, seen: { ...noIds, size: 99_999 } };
    const observations = [login(), login()];
    const decision = recordTelemetry.decide(full, batchOf(observations), context(), undefined);
    expect(decision).toMatchObject({ result: { accepted: 1, duplicates: 0, refused: [observations[1]!.eventId] } });
  });

  it('knows exactly the recorded ids, in batches of any size', () => {
    const ids = fc.uniqueArray(fc.uuid(), { maxLength: 200 });
    fc.assert(
      fc.property(
        ids,
        fc.array(fc.integer({ min: 1, max: 40 })),
        fc.array(fc.uuid(), { maxLength: 20 }),
        (all, sizes, others) => {
          let seen = noIds;
          let from = 0;
          for (const size of [...sizes, all.length]) {
            const before = seen;
            const batch = all.slice(from, from + size);
            seen = withIds(seen, batch);
            if (batch.length > 0) expect(hasId(before, batch[0]!)).toBe(false);
            from += size;
          }
          expect(seen.size).toBe(all.length);
          expect(all.every((id) => hasId(seen, id))).toBe(true);
          expect(others.filter((id) => hasId(seen, id))).toEqual(others.filter((id) => all.includes(id)));
          // A handful of look-ups, however many batches there were.
          expect(seen.runs.length).toBeLessThanOrEqual(10);
        },
      ),
    );
  });
});

describe('recording a heartbeat', () => {
  const sign = {
    deviceId: DEVICE,
    userId: USER,
    extensionVersion: '2.1.0',
    browserVersion: '131',
    osVersion: null,
    policyVersion: 'abc',
    errors: 0,
    rollout: null,
  };
  const recorded = (agoMs: number) => ({
    type: 'DeviceHeartbeatRecorded' as const,
    data: { ...sign, receivedAt: new Date(NOW - agoMs).toISOString() },
  });

  it('records the first one', () => given().when(recordHeartbeat, sign).then(recorded(0)));
  it('records nothing for one that follows soon and reports nothing new', () =>
    given(recorded(60_000)).when(recordHeartbeat, sign).thenNothing());
  it('records one that reports something new', () =>
    given(recorded(60_000))
      .when(recordHeartbeat, { ...sign, policyVersion: 'def' })
      .thenTypes('DeviceHeartbeatRecorded'));
  it('records each one that reports errors', () => {
    const failing = { ...sign, errors: 2 };
    given(recorded(60_000)).when(recordHeartbeat, failing).thenTypes('DeviceHeartbeatRecorded');
    given({ ...recorded(60_000), data: { ...recorded(60_000).data, errors: 2 } })
      .when(recordHeartbeat, failing)
      .thenTypes('DeviceHeartbeatRecorded');
  });
  it('records nothing when the errors have ended, and one when the device enters a rollout', () => {
    given({ ...recorded(60_000), data: { ...recorded(60_000).data, errors: 2 } })
      .when(recordHeartbeat, sign)
      .thenNothing();
    const rollout = { rolloutId: DEVICE, round: 1, isCandidate: false };
    given(recorded(60_000))
      .when(recordHeartbeat, { ...sign, rollout })
      .thenTypes('DeviceHeartbeatRecorded');
  });
  it('records at most a thousand per day, and then one every few minutes', () => {
    const news = Array.from({ length: 1_000 }, () => recorded(60_000));
    given(...news)
      .when(recordHeartbeat, { ...sign, policyVersion: 'def' })
      .thenNothing();
    given(...news, recorded(241_000))
      .when(recordHeartbeat, { ...sign, policyVersion: 'def' })
      .thenTypes('DeviceHeartbeatRecorded');
  });
  it('records one after some minutes', () =>
    given(recorded(241_000)).when(recordHeartbeat, sign).thenTypes('DeviceHeartbeatRecorded'));
  it('is not affected by telemetry in between', () =>
    given(recorded(60_000), telemetry([login()]))
      .when(recordHeartbeat, sign)
      .thenNothing());
});
