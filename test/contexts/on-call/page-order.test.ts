import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_PAGE_STEPS,
  nextCall,
  type Callee,
  type PassedOver,
} from '../../../src/contexts/on-call/domain/page-order.ts';

const to = (adminId: string): Callee => ({
  adminId,
  recipients: [{ kind: 'email', address: `${adminId}@acme.example` }],
});
const without = (adminId: string): Callee => ({ adminId, unreachable: 'no_way' });
const progress = { step: 0, round: 1, rounds: 1, done: [] };

describe('the next person of a page', () => {
  it('is the one who has the shift, then those whose turns follow, each once in a round', () => {
    const order = [to('ann'), to('bo'), to('cy')];
    expect(nextCall(progress, order)).toMatchObject({ kind: 'call', adminId: 'ann', round: 1, passedOver: [] });
    expect(nextCall({ ...progress, step: 1, done: ['ann'] }, order)).toMatchObject({ adminId: 'bo' });
    expect(nextCall({ ...progress, step: 3, done: ['ann', 'bo', 'cy'] }, order)).toEqual({
      kind: 'exhausted',
      passedOver: [],
    });
  });

  it('is nobody who cannot be reached, and says whom it passed over', () => {
    const order = [without('ann'), to('bo'), without('cy')];
    const passed = (adminId: string) => ({ adminId, reason: 'no_way' });
    expect(nextCall(progress, order)).toMatchObject({ adminId: 'bo', passedOver: [passed('ann')] });
    expect(nextCall({ ...progress, step: 1, done: ['ann', 'bo'] }, order)).toEqual({
      kind: 'exhausted',
      passedOver: [passed('cy')],
    });
  });

  it('begins another round with the order of that moment, as often as the schedule says', () => {
    const after = { step: 2, round: 1, rounds: 2, done: ['ann', 'bo'] };
    expect(nextCall(after, [to('bo'), to('ann')])).toMatchObject({ kind: 'call', adminId: 'bo', round: 2 });
    expect(nextCall({ ...after, round: 2 }, [to('bo'), to('ann')])).toMatchObject({ kind: 'exhausted' });
  });

  it('is nobody if the schedule has nobody, or after as many calls as a page may have', () => {
    expect(nextCall({ ...progress, rounds: 5 }, [])).toEqual({ kind: 'exhausted', passedOver: [] });
    const endless = { step: MAX_PAGE_STEPS, round: 1, rounds: 5, done: [] };
    expect(nextCall(endless, [to('ann')])).toEqual({ kind: 'exhausted', passedOver: [] });
  });
});

interface Moment {
  readonly order: readonly string[];
  readonly reachable: ReadonlySet<string>;
}

/**
 * A dispatcher with a list on paper for each round: at every step, walks down the present order, crosses out whom they
 * cannot reach, and calls the first one who is not crossed out.
 */
function dispatched(moments: readonly Moment[], rounds: number): string[] {
  const journal: string[] = [];
  let crossedOut: string[] = [];
  let round = 1;
  let calls = 0;
  for (const { order, reachable } of moments) {
    let called: string | undefined;
    while (called === undefined && calls < MAX_PAGE_STEPS) {
      const passed: string[] = [];
      for (const person of order) {
        if (crossedOut.includes(person)) continue;
        if (reachable.has(person)) {
          called = person;
          break;
        }
        passed.push(person);
      }
      if (called !== undefined) {
        crossedOut.push(...passed, called);
        break;
      }
      if (round === rounds || !order.some((person) => reachable.has(person))) break;
      round += 1;
      crossedOut = [];
    }
    if (called === undefined) return [...journal, 'exhausted'];
    calls += 1;
    journal.push(`${round} ${called}`);
  }
  return journal;
}

function resolved(moments: readonly Moment[], rounds: number): string[] {
  const journal: string[] = [];
  let state: { step: number; round: number; rounds: number; done: string[] } = { step: 0, round: 1, rounds, done: [] };
  for (const { order, reachable } of moments) {
    const next = nextCall(
      state,
      order.map((person) => (reachable.has(person) ? to(person) : without(person))),
    );
    if (next.kind === 'exhausted') return [...journal, 'exhausted'];
    const passed = next.passedOver.map(({ adminId }: PassedOver) => adminId);
    state = {
      step: state.step + 1,
      round: next.round,
      rounds,
      done: [...(next.round === state.round ? state.done : []), ...passed, next.adminId],
    };
    journal.push(`${next.round} ${next.adminId}`);
  }
  return journal;
}

const PEOPLE = ['a', 'b', 'c', 'd', 'e'];
/** Orders change between steps: handoffs, overrides, new participants. So does who can be reached. */
const moment = fc.record({
  order: fc.shuffledSubarray(PEOPLE),
  reachable: fc.subarray(PEOPLE).map((people) => new Set(people)),
});

describe('compared with a dispatcher who has a list on paper', () => {
  it('calls the same people in the same rounds, whatever changes between two steps', () => {
    fc.assert(
      fc.property(
        fc.array(moment, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        (moments, rounds) => {
          const journal = resolved(moments, rounds);
          expect(journal).toEqual(dispatched(moments, rounds));
          expect(new Set(journal).size).toBe(journal.length);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
