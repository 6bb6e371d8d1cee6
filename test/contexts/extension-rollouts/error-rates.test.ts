import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTooBad, judge, NO_FIGURES } from '../../../src/contexts/extension-rollouts/domain/error-rates.ts';

const rule = { factor: 2, minErrors: 10, minDevices: 3 };
const side = (devices: number, affectedDevices: number, deviceHours: number, errors: number) => ({
  devices,
  affectedDevices,
  deviceHours,
  errors,
});

describe('too many errors', () => {
  it('are more than the factor times those of other versions, an hour and device', () => {
    const baseline = side(100, 10, 1_000, 100);
    expect(isTooBad({ candidate: side(10, 5, 100, 20), baseline }, rule)).toBe(false);
    expect(isTooBad({ candidate: side(10, 5, 100, 21), baseline }, rule)).toBe(true);
  });
  it('need errors and devices enough', () => {
    const baseline = NO_FIGURES;
    expect(isTooBad({ candidate: side(10, 3, 10, 9), baseline }, rule)).toBe(false);
    expect(isTooBad({ candidate: side(10, 2, 10, 20), baseline }, rule)).toBe(false);
    expect(isTooBad({ candidate: side(10, 3, 10, 10), baseline }, rule)).toBe(true);
  });
  it('never come from one device alone', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 10_000 }), (errors, deviceHours) => {
        expect(
          isTooBad({ candidate: side(1, 1, deviceHours, errors), baseline: NO_FIGURES }, { ...rule, minDevices: 2 }),
        ).toBe(false);
      }),
    );
  });
});

describe('the verdict', () => {
  const figures = { candidate: side(1, 0, 1, 0), baseline: NO_FIGURES };
  it('is to wait for the soak time, and without one forever', () => {
    expect(judge({ figures, rule, stage: { soakHours: 1 }, soakedMs: 3_599_999 })).toBe('wait');
    expect(judge({ figures, rule, stage: { soakHours: 1 }, soakedMs: 3_600_000 })).toBe('advance');
    expect(judge({ figures, rule, stage: { soakHours: null }, soakedMs: 1e12 })).toBe('wait');
  });
});
