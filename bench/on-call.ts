import { Temporal } from 'temporal-polyfill';
import type { ScheduleContent } from '../src/contexts/on-call/domain/schedule-content.ts';
import { periodsOf } from '../src/contexts/on-call/domain/schedule-history.ts';
import { ScheduleResolver } from '../src/contexts/on-call/domain/schedule-resolver.ts';
import { ShiftCalendars } from '../src/contexts/on-call/domain/shift-calendars.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';

const SCHEDULES = 200;
const PARTICIPANTS = 20;
const QUESTIONS = 20_000;
const ROUNDS = 7;
const DAY = 86_400_000;
const FROM = Date.parse('2026-01-01');
const YEAR = 365 * DAY;

const ZONES = ['Europe/Paris', 'America/New_York', 'Asia/Tokyo', 'Australia/Lord_Howe', 'America/Sao_Paulo'];

const contentOf = (n: number, version: number): ScheduleContent => ({
  name: `Schedule ${n}`,
  timezone: ZONES[n % ZONES.length]!,
  rotationType: (['daily', 'weekly', 'custom'] as const)[n % 3]!,
  rotationDays: n % 3 === 2 ? 3 : null,
  handoffTime: `${String(n % 24).padStart(2, '0')}:30`,
  startDate: '2025-12-01',
  participants: Array.from({ length: PARTICIPANTS }, (_, place) => `person-${(place + n + version) % 60}`),
  isEnabled: true,
  escalationMinutes: null,
  escalationRounds: 1,
});

/** A schedule that was changed every month and has an override every week. */
function resolverOf(n: number, calendars: ShiftCalendars): ScheduleResolver {
  const versions = Array.from({ length: 12 }, (_, month) => ({
    from: FROM + (month - 1) * 30 * DAY,
    content: contentOf(n, month),
  }));
  const overrides = Array.from({ length: 52 }, (_, week) => {
    const startsAt = FROM + week * 7 * DAY + n * 60_000;
    return { adminUserId: 'substitute', startsAt, endsAt: startsAt + DAY / 2, createdAt: 0, removedAt: null };
  });
  return new ScheduleResolver({ versions, overrides: periodsOf(overrides) }, calendars);
}

/** Questions about moments of a year, to one schedule of many, compared with converting as many moments. */
export async function measure(): Promise<Row[]> {
  const calendars = new ShiftCalendars();
  const resolvers = Array.from({ length: SCHEDULES }, (_, n) => resolverOf(n, calendars));
  const momentOfYear = (n: number) => FROM + ((n * 7_919_777_777) % YEAR);
  let found = 0;
  const asked = () =>
    perSecond(QUESTIONS, async () => {
      for (let n = 0; n < QUESTIONS; n += 1) {
        const span = resolvers[(n * 31) % SCHEDULES]!.at(momentOfYear(n));
        if (span.kind === 'shift') found += 1;
      }
    });
  const converted = () =>
    perSecond(QUESTIONS, async () => {
      for (let n = 0; n < QUESTIONS; n += 1) {
        const zone = ZONES[n % ZONES.length]!;
        const local = Temporal.Instant.fromEpochMilliseconds(momentOfYear(n)).toZonedDateTimeISO(zone);
        if (local.hour >= 0) found += 1;
      }
    });
  const backward = () =>
    perSecond(QUESTIONS, async () => {
      for (let n = 0; n < QUESTIONS; n += 1) {
        const local = Temporal.PlainDateTime.from('2026-01-01T09:30').add({ days: n % 365 });
        if (local.toZonedDateTime(ZONES[n % ZONES.length]!).epochMilliseconds > 0) found += 1;
      }
    });
  const [ours, conversions, backwards] = await alternate(ROUNDS, [asked, converted, backward]);
  if (found !== 3 * ROUNDS * QUESTIONS) throw new Error('nobody was on call at some moment');
  const row = (peer: number[], peerName: string) =>
    compare(
      `who was on call at a moment, one of ${SCHEDULES} schedules of ${PARTICIPANTS} people`,
      '/s',
      '>= 2',
      ours!,
      peer,
      peerName,
    );
  return [
    row([...conversions!], 'one conversion of a moment to a zone'),
    row([...backwards!], 'one conversion of a local time to a moment'),
  ];
}
