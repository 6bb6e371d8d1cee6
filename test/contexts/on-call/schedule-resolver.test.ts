import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScheduleContent } from '../../../src/contexts/on-call/domain/schedule-content.ts';
import { periodsOf, type DecidedOverride } from '../../../src/contexts/on-call/domain/schedule-history.ts';
import { ScheduleResolver, type Span } from '../../../src/contexts/on-call/domain/schedule-resolver.ts';
import { ShiftCalendars } from '../../../src/contexts/on-call/domain/shift-calendars.ts';
import { MINUTE, WallClock, watchedPeople, type NaiveVersion } from './naive-rota.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PEOPLE = ['ann', 'bo', 'cy', 'di'];
const LONG_AGO = Date.parse('1990-01-01');

const content = (over: Partial<ScheduleContent> = {}): ScheduleContent => ({
  name: 'Primary',
  timezone: 'UTC',
  rotationType: 'daily',
  rotationDays: null,
  handoffTime: '09:00',
  startDate: '2026-01-05',
  participants: ['ann', 'bo'],
  isEnabled: true,
  escalationMinutes: null,
  escalationRounds: 1,
  ...over,
});
const resolverOf = (versions: readonly NaiveVersion[], overrides: readonly DecidedOverride[] = []) =>
  new ScheduleResolver({ versions, overrides: periodsOf(overrides) }, new ShiftCalendars());
const lasting = (over: Partial<ScheduleContent> = {}, overrides: readonly DecidedOverride[] = []) =>
  resolverOf([{ from: LONG_AGO, content: content(over) }], overrides);
const decided = (adminUserId: string, startsAt: string, endsAt: string): DecidedOverride => ({
  adminUserId,
  startsAt: Date.parse(startsAt),
  endsAt: Date.parse(endsAt),
  createdAt: LONG_AGO,
  removedAt: null,
});
const personOf = (span: Span) => (span.kind === 'shift' ? span.adminUserId : null);
const shown = (span: Span) => [
  span.kind === 'shift' ? span.adminUserId + (span.isOverride ? '*' : '') : span.reason,
  Number.isFinite(span.startsAt) ? new Date(span.startsAt).toISOString().slice(0, 16) : null,
  Number.isFinite(span.endsAt) ? new Date(span.endsAt).toISOString().slice(0, 16) : null,
];

describe('the rotation', () => {
  it('hands over in the order of the participants, every so many days', () => {
    const weekly = lasting({ rotationType: 'weekly' });
    expect(shown(weekly.at(Date.parse('2026-01-05T08:59:59.999Z')))).toEqual([
      'not_started',
      '1990-01-01T00:00',
      '2026-01-05T09:00',
    ]);
    expect(shown(weekly.at(Date.parse('2026-01-05T09:00:00Z')))).toEqual([
      'ann',
      '2026-01-05T09:00',
      '2026-01-12T09:00',
    ]);
    expect(shown(weekly.at(Date.parse('2026-01-12T09:00:00Z')))).toEqual([
      'bo',
      '2026-01-12T09:00',
      '2026-01-19T09:00',
    ]);
    expect(shown(weekly.at(Date.parse('8999-12-31T00:00:00Z')))[0]).toMatch(/ann|bo/);
    const custom = lasting({ rotationType: 'custom', rotationDays: 3, participants: ['ann'] });
    expect([...custom.between(Date.parse('2026-01-06'), Date.parse('2026-01-13'))].map(shown)).toEqual([
      ['ann', '2026-01-05T09:00', '2026-01-08T09:00'],
      ['ann', '2026-01-08T09:00', '2026-01-11T09:00'],
      ['ann', '2026-01-11T09:00', '2026-01-14T09:00'],
    ]);
  });

  it('keeps the local time across changes of clocks', () => {
    const paris = lasting({ timezone: 'Europe/Paris', startDate: '2026-03-27' });
    expect([...paris.between(Date.parse('2026-03-28T12:00Z'), Date.parse('2026-03-30T12:00Z'))].map(shown)).toEqual([
      ['bo', '2026-03-28T08:00', '2026-03-29T07:00'],
      ['ann', '2026-03-29T07:00', '2026-03-30T07:00'],
      ['bo', '2026-03-30T07:00', '2026-03-31T07:00'],
    ]);
  });

  it('reads a skipped time with the offset before the change, and takes the first of a repeated one', () => {
    const skipped = lasting({ timezone: 'Europe/Paris', startDate: '2026-03-28', handoffTime: '02:30' });
    expect(shown(skipped.at(Date.parse('2026-03-29T12:00Z')))[1]).toBe('2026-03-29T01:30');
    const repeated = lasting({ timezone: 'Europe/Paris', startDate: '2026-10-24', handoffTime: '02:30' });
    expect(shown(repeated.at(Date.parse('2026-10-25T12:00Z')))[1]).toBe('2026-10-25T00:30');
  });

  it('passes over a day that a zone skipped', () => {
    const samoa = lasting({ timezone: 'Pacific/Apia', startDate: '2011-12-28', participants: PEOPLE });
    expect([...samoa.between(Date.parse('2011-12-29T12:00Z'), Date.parse('2012-01-01T12:00Z'))].map(shown)).toEqual([
      ['ann', '2011-12-28T19:00', '2011-12-29T19:00'],
      ['bo', '2011-12-29T19:00', '2011-12-30T19:00'],
      ['di', '2011-12-30T19:00', '2011-12-31T19:00'],
      ['ann', '2011-12-31T19:00', '2012-01-01T19:00'],
    ]);
  });
});

describe('an override', () => {
  it('goes before the rotation while it lasts', () => {
    const resolver = lasting({}, [decided('cy', '2026-01-06T12:00Z', '2026-01-06T14:00Z')]);
    expect([...resolver.between(Date.parse('2026-01-06T10:00Z'), Date.parse('2026-01-06T20:00Z'))].map(shown)).toEqual([
      ['bo', '2026-01-06T09:00', '2026-01-06T12:00'],
      ['cy*', '2026-01-06T12:00', '2026-01-06T14:00'],
      ['bo', '2026-01-06T14:00', '2026-01-07T09:00'],
    ]);
  });

  it('changes nothing before its creation, and nothing of what was before its removal', () => {
    const override = {
      ...decided('cy', '2026-01-06T09:00Z', '2026-01-06T20:00Z'),
      createdAt: Date.parse('2026-01-06T12:00Z'),
      removedAt: Date.parse('2026-01-06T15:00Z'),
    };
    const resolver = lasting({}, [override]);
    expect([...resolver.between(Date.parse('2026-01-06T10:00Z'), Date.parse('2026-01-06T20:00Z'))].map(shown)).toEqual([
      ['bo', '2026-01-06T09:00', '2026-01-06T12:00'],
      ['cy*', '2026-01-06T12:00', '2026-01-06T15:00'],
      ['bo', '2026-01-06T15:00', '2026-01-07T09:00'],
    ]);
    const removedBefore = { ...override, createdAt: LONG_AGO, removedAt: Date.parse('2026-01-06T08:00Z') };
    expect(personOf(lasting({}, [removedBefore]).at(Date.parse('2026-01-06T10:00Z')))).toBe('bo');
  });

  it('puts somebody on call before the rotation starts, but not on a disabled schedule', () => {
    const early = decided('cy', '2026-01-01T00:00Z', '2026-01-02T00:00Z');
    expect(shown(lasting({}, [early]).at(Date.parse('2026-01-01T12:00Z')))[0]).toBe('cy*');
    expect(shown(lasting({ isEnabled: false }, [early]).at(Date.parse('2026-01-01T12:00Z')))).toEqual([
      'disabled',
      '1990-01-01T00:00',
      null,
    ]);
  });
});

describe('the history of a schedule', () => {
  const versions = [
    { from: Date.parse('2026-01-05T12:00Z'), content: content() },
    { from: Date.parse('2026-01-06T12:00Z'), content: content({ participants: ['cy', 'di'] }) },
    { from: Date.parse('2026-01-07T12:00Z'), content: null },
  ];

  it('says who was on call then, whatever was changed later', () => {
    const resolver = resolverOf(versions);
    expect([...resolver.between(Date.parse('2026-01-05T10:00Z'), Date.parse('2026-01-08T12:00Z'))].map(shown)).toEqual([
      ['not_created', null, '2026-01-05T12:00'],
      ['ann', '2026-01-05T12:00', '2026-01-06T09:00'],
      ['bo', '2026-01-06T09:00', '2026-01-06T12:00'],
      ['di', '2026-01-06T12:00', '2026-01-07T09:00'],
      ['cy', '2026-01-07T09:00', '2026-01-07T12:00'],
      ['deleted', '2026-01-07T12:00', null],
    ]);
  });

  it('does not cut a shift that a change left as it was', () => {
    const renamed = [
      { from: Date.parse('2026-01-05T08:00Z'), content: content() },
      { from: Date.parse('2026-01-05T12:00Z'), content: content({ name: 'Other' }) },
      { from: Date.parse('2026-01-05T13:00Z'), content: content({ participants: ['ann', 'cy'] }) },
    ];
    for (const time of ['10:00', '12:30', '14:00'])
      expect(shown(resolverOf(renamed).at(Date.parse(`2026-01-05T${time}Z`)))).toEqual([
        'ann',
        '2026-01-05T09:00',
        '2026-01-06T09:00',
      ]);
  });
});

const zones = Intl.supportedValuesOf('timeZone');
/** Zones with unlike rules: half an hour, a skipped day, a change of two hours, changes at midnight. */
const PECULIAR: readonly (readonly [zone: string, year: number])[] = [
  ['Europe/Paris', 2026],
  ['America/New_York', 2007],
  ['America/Sao_Paulo', 2018],
  ['America/St_Johns', 2009],
  ['Australia/Lord_Howe', 2026],
  ['Pacific/Apia', 2011],
  ['Pacific/Kwajalein', 1993],
  ['Africa/Casablanca', 2026],
  ['Africa/Cairo', 2026],
  ['Asia/Beirut', 2022],
  ['Asia/Pyongyang', 2018],
  ['America/Caracas', 2016],
  ['Antarctica/Troll', 2026],
  ['America/Santiago', 2026],
];

describe('the order in which people are called', () => {
  const participants = ['ann', 'bo', 'ann', 'cy'];
  const on = (day: number) => Date.parse(`2026-01-0${day}T12:00Z`);

  it('begins with the person who has the shift, then those whose turns follow, each once', () => {
    const resolver = lasting({ participants });
    expect(resolver.orderAt(on(5))).toEqual(['ann', 'bo', 'cy']);
    expect(resolver.orderAt(on(6))).toEqual(['bo', 'ann', 'cy']);
    expect(resolver.orderAt(on(7))).toEqual(['ann', 'cy', 'bo']);
    expect(resolver.orderAt(on(8))).toEqual(['cy', 'ann', 'bo']);
  });

  it('begins with the person of an override, also before the rotation starts', () => {
    const overrides = [
      decided('di', '2026-01-06T10:00Z', '2026-01-06T20:00Z'),
      decided('cy', '2026-01-01T00:00Z', '2026-01-02T00:00Z'),
    ];
    const resolver = lasting({ participants }, overrides);
    expect(resolver.orderAt(on(6))).toEqual(['di', 'bo', 'ann', 'cy']);
    expect(resolver.orderAt(on(1))).toEqual(['cy', 'ann', 'bo']);
  });

  it('is empty while nobody has the shift', () => {
    expect(lasting().orderAt(on(1))).toEqual([]);
    expect(lasting({ isEnabled: false }).orderAt(on(6))).toEqual([]);
    expect(resolverOf([]).orderAt(on(6))).toEqual([]);
  });

  it('is that of the shifts to come, in any rotation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PEOPLE), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 60 * 24 }),
        (people, days, hours) => {
          const resolver = lasting({ rotationType: 'custom', rotationDays: days, participants: people });
          const from = Date.parse('2026-01-05T09:00Z') + hours * HOUR;
          const coming = [...resolver.between(from, from + people.length * days * DAY)].map(personOf);
          expect(resolver.orderAt(from)).toEqual([...new Set(coming)]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** The first moments after changes of a zone's clocks in a year. */
function changesOf(zone: string, year: number): number[] {
  const clock = new WallClock(zone);
  const offset = (moment: number) => clock.shows(moment) - moment / MINUTE;
  const changes: number[] = [];
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY) {
    let [before, after] = [day, day + DAY];
    if (offset(before) === offset(after)) continue;
    while (after - before > MINUTE) {
      const middle = before + Math.floor((after - before) / 2 / MINUTE) * MINUTE;
      if (offset(middle) === offset(before)) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

/** A change of clocks in some zone, or any moment where there is none. */
const place = fc
  .tuple(
    fc.oneof(fc.constantFrom(...PECULIAR), fc.tuple(fc.constantFrom(...zones), fc.integer({ min: 1975, max: 2037 }))),
    fc.nat(),
  )
  .map(([[zone, year], pick]) => {
    const changes = changesOf(zone, year);
    const around = changes[pick % changes.length] ?? Date.UTC(year, 0, 1) + (pick % (364 * 1_440)) * MINUTE;
    return { zone, around, shown: new WallClock(zone).shows(around - MINUTE) + 1 };
  });
const WATCHED_DAYS = 3;
const PARTICIPANTS = [PEOPLE, PEOPLE.slice(1, 3), ['ann'], ['ann', 'bo', 'ann', 'cy', 'cy']];
const timeOf = (minute: number) => new Date((((minute % 1_440) + 1_440) % 1_440) * MINUTE).toISOString().slice(11, 16);
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);

const drawnContent = ({ zone, around, shown }: { zone: string; around: number; shown: number }) =>
  fc.record({
    name: fc.constant('Primary'),
    timezone: fc.oneof(
      { arbitrary: fc.constant(zone), weight: 9 },
      { arbitrary: fc.constantFrom(...zones), weight: 1 },
    ),
    rotationType: fc.constantFrom('daily' as const, 'daily' as const, 'weekly' as const, 'custom' as const),
    rotationDays: fc.integer({ min: 1, max: 5 }),
    // Mostly within the hours that are skipped or repeated.
    handoffTime: fc
      .oneof(
        { arbitrary: fc.integer({ min: -70, max: 70 }).map((delta) => shown + delta), weight: 3 },
        { arbitrary: fc.integer({ min: 0, max: 1_439 }), weight: 1 },
      )
      .map(timeOf),
    startDate: fc
      .oneof(fc.integer({ min: -20, max: 1 }), fc.integer({ min: -2_000, max: 0 }))
      .map((days) => dayOf(around + days * DAY)),
    participants: fc.constantFrom(...PARTICIPANTS),
    isEnabled: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    escalationMinutes: fc.constant(null),
    escalationRounds: fc.constant(1),
  });

const situation = place.chain((there) => {
  const from = there.around - 1.5 * DAY;
  const moment = fc
    .integer({ min: -2 * 1_440, max: (WATCHED_DAYS + 2) * 1_440 })
    .map((minutes) => from + minutes * MINUTE);
  const versions = fc
    .array(fc.record({ from: moment, content: fc.option(drawnContent(there), { freq: 8 }) }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((drawn) =>
      drawn
        .toSorted((a, b) => a.from - b.from)
        .map((version, n) => (n === 0 ? { ...version, from: from - 9 * DAY } : version)),
    );
  const overrides = fc
    .array(
      fc.record({
        adminUserId: fc.constantFrom('eve', 'fay'),
        startsAt: moment,
        minutes: fc.integer({ min: 1, max: 900 }),
        createdAt: fc.option(moment),
        removedAt: fc.option(moment, { freq: 3 }),
      }),
      { maxLength: 4 },
    )
    .map((drawn) =>
      withoutOverlap(
        drawn.map(({ minutes, createdAt, ...rest }) => ({
          ...rest,
          createdAt: createdAt ?? LONG_AGO,
          endsAt: rest.startsAt + minutes * MINUTE,
        })),
      ),
    );
  return fc.record({ from: fc.constant(from), versions, overrides });
});

/** As the command decides: an override that overlaps another one is refused. */
const withoutOverlap = (drawn: readonly DecidedOverride[]): DecidedOverride[] =>
  drawn.reduce<DecidedOverride[]>(
    (kept, one) =>
      kept.some((other) => other.startsAt < one.endsAt && one.startsAt < other.endsAt) ? kept : [...kept, one],
    [],
  );

describe('compared with a clock that is watched minute by minute', () => {
  const MINUTES = WATCHED_DAYS * 1_440;

  it('names the same person at every minute, in every zone, for every change', () => {
    fc.assert(
      fc.property(situation, ({ from, versions, overrides }) => {
        const resolver = resolverOf(versions, overrides);
        const watched = watchedPeople(versions, overrides, from, MINUTES);
        const resolved: (string | null)[] = [];
        for (const span of resolver.between(from, from + MINUTES * MINUTE)) {
          const end = Math.min(span.endsAt, from + MINUTES * MINUTE);
          while (from + resolved.length * MINUTE < end) resolved.push(personOf(span));
        }
        expect(firstDifference(resolved, watched)).toBeUndefined();
      }),
      { numRuns: 250 },
    );
  }, 120_000);

  it('gives the same span, wherever in it one asks', () => {
    fc.assert(
      fc.property(
        situation,
        fc.array(fc.integer({ min: 0, max: MINUTES * MINUTE }), { minLength: 20, maxLength: 20 }),
        ({ from, versions, overrides }, offsets) => {
          const resolver = resolverOf(versions, overrides);
          const spans = [...resolver.between(from, from + MINUTES * MINUTE)];
          for (const [n, span] of spans.entries()) if (n > 0) expect(span.startsAt).toBe(spans[n - 1]!.endsAt);
          for (const offset of offsets) {
            const span = resolver.at(from + offset);
            expect(spans.filter(({ startsAt, endsAt }) => startsAt <= from + offset && from + offset < endsAt)).toEqual(
              [span],
            );
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('hands over in every zone that this runtime knows when its clocks show the time', () => {
    for (const timezone of zones) {
      const resolver = lasting({ timezone, startDate: '2026-01-01', rotationType: 'weekly' });
      const clock = new WallClock(timezone);
      for (const span of resolver.between(Date.parse('2026-01-03'), Date.parse('2027-01-03')))
        expect([timezone, clock.shows(span.startsAt) % 1_440]).toEqual([timezone, 9 * 60]);
    }
  }, 60_000);
});

function firstDifference(resolved: readonly unknown[], watched: readonly unknown[]): unknown {
  const at = watched.findIndex((person, n) => person !== resolved[n]);
  return at < 0 && resolved.length === watched.length
    ? undefined
    : { minute: at, resolved: resolved[at], watched: watched[at] };
}
