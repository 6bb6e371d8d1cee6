import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silencesSchedule } from '../../../src/contexts/on-call/domain/rota-change.ts';
import type { ScheduleContent } from '../../../src/contexts/on-call/domain/schedule-content.ts';
import { ScheduleResolver } from '../../../src/contexts/on-call/domain/schedule-resolver.ts';
import { ShiftCalendars } from '../../../src/contexts/on-call/domain/shift-calendars.ts';

const NOW = Date.parse('2026-06-02T12:00:00Z');
const HOUR = 3_600_000;
const content = (over: Partial<ScheduleContent> = {}): ScheduleContent => ({
  name: 'Primary',
  timezone: 'UTC',
  rotationType: 'weekly',
  rotationDays: null,
  handoffTime: '09:00',
  startDate: '2026-01-05',
  participants: ['ann', 'bo'],
  isEnabled: true,
  escalationMinutes: null,
  escalationRounds: 1,
  ...over,
});
const silences = (before: Partial<ScheduleContent>, after: Partial<ScheduleContent>) =>
  silencesSchedule(content(before), content({ ...before, ...after }), NOW);

/** OP-597. */
describe('a change of a schedule silences it', () => {
  it('if somebody is no longer on call at a time at which that person was', () => {
    expect(silences({}, { startDate: '2026-01-12' })).toBe(true);
    expect(silences({}, { startDate: '2026-06-03' })).toBe(true);
    expect(silences({}, { handoffTime: '08:00' })).toBe(true);
    expect(silences({}, { timezone: 'Asia/Tokyo' })).toBe(true);
    expect(silences({ timezone: 'Europe/Berlin' }, { timezone: 'Europe/Paris' })).toBe(false);
    expect(silences({}, { startDate: '2025-12-22' })).toBe(false);
  });

  it('if shifts get another length, unless one person has them all', () => {
    const long = { rotationType: 'custom', rotationDays: 364 } as const;
    expect(silences(long, { rotationDays: 365 })).toBe(true);
    expect(silences({ ...long, participants: ['ann'] }, { rotationDays: 365 })).toBe(false);
    expect(silences({ participants: ['ann'] }, { startDate: '2099-01-01' })).toBe(true);
  });

  it('if a turn moves that is months away', () => {
    const participants = [...Array<string>(20).fill('ann'), 'bo'];
    expect(silences({ participants }, { startDate: '2026-01-12' })).toBe(true);
  });

  it('if it has not begun, and begins later, but not if it begins earlier in the same order', () => {
    expect(silences({ startDate: '2099-01-05' }, { startDate: '2099-01-19' })).toBe(true);
    expect(silences({ startDate: '2099-01-19' }, { startDate: '2099-01-05' })).toBe(false);
  });

  it('although it is off: what it says holds when it is switched on again', () => {
    expect(silences({ isEnabled: false }, { startDate: '2099-01-01' })).toBe(true);
    expect(silences({ isEnabled: false }, { isEnabled: true })).toBe(false);
  });

  it('exactly if somebody loses an hour, whatever the plan', () => {
    const plan = fc.record({
      timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
      rotationType: fc.constantFrom('daily' as const, 'weekly' as const),
      handoffTime: fc.constantFrom('00:00', '09:00', '17:00'),
      startDate: fc.constantFrom('2026-01-05', '2026-01-12', '2026-05-25', '2026-06-04', '2026-06-20'),
    });
    const participants = fc.array(fc.constantFrom('ann', 'bo', 'cy'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(plan, plan, participants, (one, other, people) => {
        const [before, after] = [one, other].map((given) => content({ ...given, participants: people }));
        const [was, is] = [before!, after!].map((version) => {
          const history = { versions: [{ from: -Infinity, content: version }], overrides: [] };
          const resolver = new ScheduleResolver(history, new ShiftCalendars());
          return (moment: number) => resolver.orderAt(moment)[0];
        });
        const hours = Array.from({ length: 24 * 56 }, (_, hour) => NOW + hour * HOUR);
        const isLost = hours.some((hour) => was!(hour) !== undefined && was!(hour) !== is!(hour));
        expect(silencesSchedule(before!, after!, NOW)).toBe(isLost);
      }),
      { numRuns: 60 },
    );
  });
});
