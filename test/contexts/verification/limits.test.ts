import { describe, expect, it } from 'vitest';
import {
  MAX_FAILURES,
  reachesLimit,
  secondsUntilOpen,
  verification,
} from '../../../src/contexts/verification/domain/verification.ts';
import { VerificationCodes } from '../../../src/contexts/identity/verification-codes.ts';
import { NOW, TENANT } from '../../dsl/given.ts';
import { USER } from '../../dsl/observations.ts';

const MINUTE = 60_000;
const failedAt = (...times: number[]) =>
  times.reduce(
    (state, time) =>
      verification.fold(state, {
        type: 'VerificationFailed',
        data: { verificationId: USER, userId: USER, method: 'otp', at: new Date(time).toISOString() },
      }),
    verification.initial,
  );

describe('the limit of failed codes', () => {
  const state = failedAt(...Array.from({ length: MAX_FAILURES }, (_, minutes) => NOW + minutes * MINUTE));

  it('checks no code after five failures in a quarter of an hour until the oldest is that old, to the millisecond', () => {
    const end = NOW + 15 * MINUTE;
    expect([NOW + 4 * MINUTE, end - 1_000, end - 1, end].map((now) => secondsUntilOpen(state, now))).toEqual([
      11 * 60,
      1,
      1,
      0,
    ]);
  });

  it('locks again at the next failure after the lock, until the second oldest expires', () => {
    const end = NOW + 15 * MINUTE;
    expect(reachesLimit(state, end)).toBe(true);
    const again = verification.fold(state, {
      type: 'VerificationFailed',
      data: { verificationId: USER, userId: USER, method: 'otp', at: new Date(end).toISOString() },
    });
    expect([secondsUntilOpen(again, end), secondsUntilOpen(again, end + MINUTE)]).toEqual([60, 0]);
  });

  it('does not lock after four failures, or after five over a longer time', () => {
    expect(secondsUntilOpen(failedAt(NOW, NOW, NOW, NOW), NOW)).toBe(0);
    expect(reachesLimit(failedAt(NOW, NOW, NOW), NOW)).toBe(false);
    const spread = failedAt(...Array.from({ length: MAX_FAILURES }, (_, n) => NOW + n * 4 * MINUTE));
    expect(secondsUntilOpen(spread, NOW + 16 * MINUTE)).toBe(0);
  });
});

describe('the daily code', () => {
  const codes = new VerificationCodes((tenantId) => `secret of ${tenantId}`);
  const holder = { userId: USER, deactivations: 0 };
  const midnight = Date.parse('2026-06-02T00:00:00.000Z');
  const { dailyCode } = codes.current(TENANT, holder, midnight - 1);
  const isRight = (now: number) => codes.isDailyCode(TENANT, holder, dailyCode, now);

  it('is valid from midnight to midnight UTC and a quarter of an hour more, to the millisecond', () => {
    const moments = [
      midnight - 86_400_000 - 1,
      midnight - 86_400_000,
      midnight - 1,
      midnight,
      midnight + 15 * MINUTE - 1,
      midnight + 15 * MINUTE,
      midnight + 86_400_000,
    ];
    expect(moments.map(isRight)).toEqual([false, true, true, true, true, false, false]);
  });

  it('is void once its person has become inactive, also when they are back', () => {
    const back = { ...holder, deactivations: 1 };
    expect(codes.isDailyCode(TENANT, back, dailyCode, midnight - 1)).toBe(false);
    const { otp } = codes.current(TENANT, holder, midnight);
    expect([
      codes.stepOfOtp(TENANT, holder, otp, midnight) !== undefined,
      codes.stepOfOtp(TENANT, back, otp, midnight),
    ]).toEqual([true, undefined]);
  });

  it('changes at midnight, and both are valid in that quarter of an hour', () => {
    const next = codes.current(TENANT, holder, midnight).dailyCode;
    expect(next).not.toBe(dailyCode);
    expect(codes.isDailyCode(TENANT, holder, next, midnight)).toBe(true);
    expect(codes.isDailyCode(TENANT, holder, next, midnight - 1)).toBe(false);
  });
});
