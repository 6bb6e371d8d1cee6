import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeSeat } from '../../src/domain/employees/seats.ts';

const heldIn = (held: ReadonlySet<number>) => async (seat: number) => held.has(seat);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('a free seat', () => {
  it('is found wherever there is one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(fc.integer({ min: 1, max: 40 })), async (granted, taken) => {
        const held = new Set(taken.filter((seat) => seat <= granted));
        const seat = await freeSeat({ granted, everGranted: granted }, heldIn(held));
        if (held.size === granted) expect(seat).toBeUndefined();
        else expect(range(1, granted).filter((one) => !held.has(one))).toContain(seat);
      }),
    );
  });

  it('is the last one of many', async () => {
    const held = new Set(range(1, 5_000));
    held.delete(3_217);
    expect(await freeSeat({ granted: 5_000, everGranted: 5_000 }, heldIn(held))).toBe(3_217);
  });

  it('is not there without a license', async () => {
    expect(await freeSeat({ granted: 0, everGranted: 0 }, heldIn(new Set()))).toBeUndefined();
    expect(await freeSeat({ granted: 0, everGranted: 50 }, heldIn(new Set()))).toBeUndefined();
  });

  it('leaves most of a large license unasked', async () => {
    let asked = 0;
    await freeSeat({ granted: 1_000_000, everGranted: 1_000_000 }, async () => (asked++, false));
    expect(asked).toBeLessThan(20);
  });

  /** Whoever fills up until nothing is free has as many as the license grants, whatever was held and let go before. */
  it('never makes more employees than a license grants that followed a larger one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 }), fc.array(fc.nat(60)), async (granted, more, picks) => {
        const everGranted = granted + more;
        const held = new Set(picks.map((pick) => 1 + (pick % Math.max(everGranted, 1))).filter((seat) => seat <= everGranted));
        const before = held.size;
        for (let seat = await freeSeat({ granted, everGranted }, heldIn(held)); seat !== undefined; seat = await freeSeat({ granted, everGranted }, heldIn(held))) {
          expect(held.has(seat)).toBe(false);
          held.add(seat);
        }
        expect(held.size).toBe(Math.max(before, granted));
      }),
    );
  });
});
