import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BUCKETS,
  bucketOf,
  bucketsOf,
  isIncluded,
} from '../../../src/contexts/extension-rollouts/domain/device-bucket.ts';

const salt = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((octets) => Buffer.from(octets).toString('hex'));
const hundredths = fc.integer({ min: 0, max: 10_000 }).map((number) => number / 100);
const stage = (percent: number, groupIds: string[] = []) => ({ percent, groupIds, soakHours: null });
const device = (deviceId: string, groupIds: string[] = []) => ({ deviceId, groupIds });

/** Five standard deviations of a share: beyond, by chance, once in millions of runs. */
const tolerance = (percent: number, devices: number): number => {
  const share = percent / 100;
  return 5 * Math.sqrt(devices * share * (1 - share)) + 1;
};
const FLEET = Array.from({ length: 5_000 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);

describe('the share of a rollout', () => {
  it('only gains devices when it is raised', () => {
    fc.assert(
      fc.property(salt, hundredths, hundredths, fc.array(fc.uuid(), { maxLength: 50 }), (key, one, other, ids) => {
        const [less, more] = one < other ? [one, other] : [other, one];
        const stages = [stage(less), stage(more)];
        const included = (at: number) => ids.filter((id) => isIncluded({ salt: key, stages }, at, device(id)));
        expect(included(1)).toEqual(expect.arrayContaining(included(0)));
      }),
    );
  });

  it('is met over many devices, also over devices with neighbouring ids', () => {
    fc.assert(
      fc.property(salt, hundredths, (key, percent) => {
        const rollout = { salt: key, stages: [stage(percent)] };
        const included = FLEET.filter((id) => isIncluded(rollout, 0, device(id))).length;
        expect(Math.abs(included - (FLEET.length * percent) / 100)).toBeLessThanOrEqual(
          tolerance(percent, FLEET.length),
        );
      }),
      { numRuns: 30, seed: 20_261_123 },
    );
  });

  it('has nobody at 0 and everybody at 100 percent', () => {
    const all = (percent: number) =>
      FLEET.filter((id) => isIncluded({ salt: 'a', stages: [stage(percent)] }, 0, device(id)));
    expect(all(0)).toEqual([]);
    expect(all(100)).toEqual(FLEET);
    expect([bucketsOf(0), bucketsOf(0.01), bucketsOf(33.33), bucketsOf(100)]).toEqual([0, 1, 3_333, BUCKETS]);
  });

  it('has other devices in another rollout', () => {
    const first = (key: string) => FLEET.filter((id) => bucketOf(key, id) < 500);
    const [of, others] = [first('a'), new Set(first('b'))];
    expect(of.filter((id) => others.has(id)).length).toBeLessThan(of.length / 4);
  });

  it('does not matter to members of a group, who stay in later stages', () => {
    const rollout = { salt: 'a', stages: [stage(0, ['pilots']), stage(1)] };
    const outside = FLEET.find((id) => bucketOf('a', id) >= 100)!;
    expect([0, 1].map((at) => isIncluded(rollout, at, device(outside, ['pilots'])))).toEqual([true, true]);
    expect([0, 1].map((at) => isIncluded(rollout, at, device(outside, ['others'])))).toEqual([false, false]);
  });
});
