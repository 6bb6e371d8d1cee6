import { describe, expect, it } from 'vitest';
import { whenEmployeeDeletedRevokeDevices } from '../../src/contexts/employees/reactions/when-employee-deleted-revoke-devices.ts';
import { reactions } from '../../src/contexts/reactions.ts';
import { text } from '../../src/platform/kernel/read-model.ts';
import { versionOf, type AnyReaction } from '../../src/platform/kernel/reaction.ts';
import { fingerprintOf, foldHistories, present, type Folding } from '../dsl/fold-histories.ts';
import { compare, whatIsWrong, type Versioned } from './fingerprints.ts';

const FILE = new URL('reaction-fingerprints.json', import.meta.url);
const COMMAND = 'UPDATE_FINGERPRINTS=1 npx vitest run fingerprints event-shapes';

/** The state of a reaction. Its effects may change at any time: they concern only future events. */
const foldingOf = (reaction: AnyReaction): Versioned => ({
  name: reaction.name,
  version: versionOf(reaction),
  columns: reaction.state?.columns ?? {},
  key: reaction.state?.key ?? [],
  scope: reaction.state ? 'tenant' : 'without state',
  on: reaction.state ? (reaction.on as Folding['on']) : {},
});
const all = reactions.map(foldingOf);

const UNREACHED: readonly string[] = [
  // They name the fingerprint of an alert, which is computed from the finding: no sample has the right one.
  ...['AlertRaised', 'AlertResolved', 'AlertReopened'].map((type) => `alert-detection ${type}`),
  // As above; test/contexts/alerts/enrollment-token-watch.test.ts closes an alert of its own.
  'enrollment-token-watch AlertResolved',
  // It reads the state and has effects. The removals that follow change the state.
  'when-person-leaves-end-memberships EmployeeUnlinked',
];

const UNREACHED_MESSAGE =
  'no sample in test/fixtures/events or test/fixtures/variants makes these handlers change a row';
const UNFILLED_MESSAGE = 'no sample in test/fixtures/events or test/fixtures/variants fills these columns';

describe('a reaction whose state is folded differently has a higher version', () => {
  it('holds for every reaction', () => {
    expect(whatIsWrong(all, FILE, COMMAND)).toEqual([]);
  });

  it('is checked with histories that reach every handler and every column', () => {
    for (const reaction of all.filter(({ key }) => key.length > 0)) {
      const happened = foldHistories(reaction, present);
      const reached = new Set(happened.filter(({ refused }) => !refused).map(({ type }) => type));
      expect(
        Object.keys(reaction.on)
          .map((type) => `${reaction.name} ${type}`)
          .filter((name) => !reached.has(name.split(' ')[1]!) && !UNREACHED.includes(name)),
        UNREACHED_MESSAGE,
      ).toEqual([]);
      const filled = new Set(happened.flatMap(({ row = {} }) => Object.keys(row)));
      expect(
        Object.keys(reaction.columns).filter((column) => !filled.has(column)),
        `${reaction.name}: ${UNFILLED_MESSAGE}`,
      ).toEqual([]);
    }
  });

  it('is detected for a column, a fold, and a state that is added or removed, but not for an effect', () => {
    const reaction: AnyReaction = whenEmployeeDeletedRevokeDevices;
    const { state } = reaction;
    const before = fingerprintOf(foldingOf(reaction), present);
    const of = (over: Partial<AnyReaction>) => fingerprintOf(foldingOf({ ...reaction, ...over }), present);
    expect(of({ state: { ...state!, columns: { ...state!.columns, note: text } } })).not.toBe(before);
    const { state: _state, ...stateless } = reaction;
    expect(fingerprintOf(foldingOf(stateless), present)).not.toBe(before);
    const enrolled = reaction.on['DeviceEnrolled'] as (
      event: unknown,
    ) => { key: object; react: (row: unknown) => object }[];
    const altered = (alter: (answer: { row: { device_ids: string[] }; effects: unknown }) => object) => ({
      ...reaction.on,
      DeviceEnrolled: (event: unknown) =>
        enrolled(event).map((step) => ({
          ...step,
          react: (row: unknown) => alter(step.react(row) as { row: { device_ids: string[] }; effects: unknown }),
        })),
    });
    const louder = altered(({ row, effects }) => ({
      row: { ...row, device_ids: row.device_ids.map((one) => `${one}!`) },
      effects,
    }));
    expect(of({ on: louder as never })).not.toBe(before);
    expect(of({ on: altered(({ row }) => ({ row, effects: [] })) as never })).toBe(before);
    const released = { events: present, fingerprints: { [reaction.name]: { version: 1, hash: before } } };
    const changed = (over: Partial<AnyReaction>) =>
      compare([foldingOf({ ...reaction, ...over })], released, COMMAND).changed;
    expect(changed({ on: louder as never })[0]).toContain('Give it version 2');
    expect(changed({ on: louder as never, version: 2 })).toEqual([]);
  });
});
