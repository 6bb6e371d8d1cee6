import { describe, expect, it } from 'vitest';
import { createOnCallOverride } from '../../../commands/on-call/create-on-call-override.ts';
import { createOnCallSchedule } from '../../../commands/on-call/create-on-call-schedule.ts';
import { deleteOnCallSchedule } from '../../../commands/on-call/delete-on-call-schedule.ts';
import { removeOnCallOverride } from '../../../commands/on-call/remove-on-call-override.ts';
import { revokeOnCallCalendar } from '../../../commands/on-call/revoke-on-call-calendar.ts';
import { shareOnCallCalendar } from '../../../commands/on-call/share-on-call-calendar.ts';
import { updateOnCallSchedule } from '../../../commands/on-call/update-on-call-schedule.ts';
import { onCallEvents } from '../../../src/contexts/on-call/domain/events.ts';
import { MAX_OVERRIDES } from '../../../src/contexts/on-call/domain/schedule-content.ts';
import { context, historiesOf, NOW } from '../../dsl/given.ts';

const { given } = historiesOf([onCallEvents]);
const scheduleId = '0198a000-0000-7000-8000-000000000001';
const adminUserId = '0198a000-0000-7000-8000-000000000002';
const { id } = context();
const iso = (moment: number) => new Date(moment).toISOString();
const MINUTE = 60_000;

const content = {
  name: 'Primary',
  timezone: 'Pacific/Kiritimati',
  rotationType: 'weekly' as const,
  rotationDays: null,
  handoffTime: '09:00',
  startDate: '2026-01-05',
  participants: [adminUserId],
  isEnabled: true,
  escalationMinutes: null,
  escalationRounds: 1,
};
const createdAt = (moment: number) => ({
  type: 'OnCallScheduleCreated' as const,
  data: { scheduleId, slot: 7, version: 1, effectiveAt: iso(moment), content },
});
const created = createdAt(NOW - MINUTE);
const overridden = (n: number, startsAt: number, endsAt: number, at = NOW - MINUTE / 2) => ({
  type: 'OnCallOverrideCreated' as const,
  data: {
    scheduleId,
    overrideId: `0198a000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    adminUserId,
    startsAt: iso(startsAt),
    endsAt: iso(endsAt),
    reason: null,
    effectiveAt: iso(at),
  },
});
const override = (from: number, to: number) => ({
  scheduleId,
  adminUserId,
  startsAt: iso(NOW + from * MINUTE),
  endsAt: iso(NOW + to * MINUTE),
  reason: null,
});

describe('a schedule', () => {
  it('begins today in its zone, unless told otherwise', () => {
    given()
      .when(createOnCallSchedule, { ...content, startDate: undefined }, { slot: 7 })
      .then({
        type: 'OnCallScheduleCreated',
        data: {
          scheduleId: id,
          slot: 7,
          version: 1,
          effectiveAt: iso(NOW),
          content: { ...content, startDate: '2026-06-02' },
        },
      });
  });

  it('gets a new version with every change, and none without', () => {
    const change = (changes: object) => ({ scheduleId, changes });
    const allowed = { refused: undefined };
    given(created)
      .when(updateOnCallSchedule, change({ name: 'Other', timezone: undefined }), allowed)
      .then({
        type: 'OnCallScheduleUpdated',
        data: { scheduleId, version: 2, effectiveAt: iso(NOW), content: { ...content, name: 'Other' } },
      });
    given(created)
      .when(updateOnCallSchedule, change({ name: 'Primary', rotationDays: 5 }), allowed)
      .thenNothing();
    given(created)
      .when(updateOnCallSchedule, change({ rotationType: 'custom' }), allowed)
      .thenRefused('invalid');
    given()
      .when(updateOnCallSchedule, change({ name: 'Other' }), allowed)
      .thenRefused('notFound');
  });

  it('calls others in another season only with a proof (OP-597)', () => {
    const participants = [adminUserId, '0198a000-0000-7000-8000-000000000003'];
    const history = {
      ...created,
      data: {
        ...created.data,
        content: { ...content, participants, timezone: 'Europe/Paris', startDate: '2026-11-02' },
      },
    };
    // Tunis has the clock of Paris in winter, and no summer time.
    given(history)
      .when(updateOnCallSchedule, { scheduleId, changes: { timezone: 'Africa/Tunis' } }, { refused: undefined })
      .thenRefused('forbidden');
  });

  it('calls others, or nobody, or later, only with a proof (OP-597)', () => {
    const other = '0198a000-0000-7000-8000-000000000003';
    const shared = { ...content, participants: [adminUserId, other], escalationMinutes: 15, escalationRounds: 2 };
    const history = { ...created, data: { ...created.data, content: shared } };
    const allowed = { refused: undefined };
    const silencing = [
      { startDate: '2026-01-12' },
      { startDate: '2099-01-01' },
      { rotationType: 'daily' },
      { rotationType: 'custom', rotationDays: 365 },
      { timezone: 'UTC' },
      { handoffTime: '10:00' },
      { escalationMinutes: null },
      { escalationMinutes: 16 },
      { escalationRounds: 1 },
    ] as const;
    for (const changes of silencing) {
      given(history).when(updateOnCallSchedule, { scheduleId, changes }, allowed).thenRefused('forbidden');
      const rotationDays = 'rotationDays' in changes ? changes.rotationDays : null;
      const data = { scheduleId, version: 2, effectiveAt: iso(NOW), isSilenced: true };
      given(history)
        .when(updateOnCallSchedule, { scheduleId, changes, reauthenticated: true }, allowed)
        .then({ type: 'OnCallScheduleUpdated', data: { ...data, content: { ...shared, ...changes, rotationDays } } });
    }
    const free = [
      { startDate: '2026-01-19' },
      { rotationType: 'custom', rotationDays: 7 },
      { escalationMinutes: 5, escalationRounds: 3 },
    ] as const;
    for (const changes of free)
      given(history)
        .when(updateOnCallSchedule, { scheduleId, changes }, allowed)
        .then({
          type: 'OnCallScheduleUpdated',
          data: { scheduleId, version: 2, effectiveAt: iso(NOW), content: { ...shared, ...changes } },
        });
  });

  it('changes after everything that was decided before, also on a clock that is behind', () => {
    given(createdAt(NOW + MINUTE))
      .when(deleteOnCallSchedule, { scheduleId })
      .then({
        type: 'OnCallScheduleDeleted',
        data: { scheduleId, version: 2, effectiveAt: iso(NOW + MINUTE + 1) },
      });
  });
});

describe('an override', () => {
  const active = { isActive: true };

  it('may touch others of the schedule, and must not overlap them', () => {
    const history = [created, overridden(1, NOW, NOW + 10 * MINUTE)] as const;
    for (const [from, to] of [
      [-5, 1],
      [9, 12],
      [2, 3],
      [-1, 11],
    ])
      given(...history)
        .when(createOnCallOverride, override(from!, to!), active)
        .thenRefused('conflict', 'overlaps another override of the schedule');
    for (const [from, to] of [
      [-5, 0],
      [10, 12],
    ])
      given(...history)
        .when(createOnCallOverride, override(from!, to!), active)
        .then({
          type: 'OnCallOverrideCreated',
          data: { ...override(from!, to!), overrideId: id, effectiveAt: iso(NOW) },
        });
  });

  it('needs a person who can take over, and a schedule', () => {
    given(created).when(createOnCallOverride, override(0, 1), { isActive: false }).thenRefused('invalid');
    given().when(createOnCallOverride, override(0, 1), active).thenRefused('notFound');
  });

  it('is removed only with a proof if those of the schedule take more than a week together (OP-597)', () => {
    const days = (n: number) => NOW + n * 24 * 60 * MINUTE;
    const removed = (n: number) => ({ scheduleId, overrideId: overridden(n, 0, 1).data.overrideId });
    const long = [created, overridden(1, days(-9), days(4)), overridden(2, days(5), days(9))] as const;
    const data = { ...removed(1), effectiveAt: iso(NOW) };
    given(...long)
      .when(removeOnCallOverride, removed(1))
      .thenRefused('forbidden');
    given(...long)
      .when(removeOnCallOverride, { ...removed(1), reauthenticated: true })
      .then({ type: 'OnCallOverrideRemoved', data: { ...data, isLong: true } });
    given(created, overridden(1, days(-9), days(7)))
      .when(removeOnCallOverride, removed(1))
      .then({ type: 'OnCallOverrideRemoved', data });
  });

  it('takes the place of those that have ended, up to the limit of a schedule', () => {
    const full = (from: number) =>
      Array.from({ length: MAX_OVERRIDES }, (_, n) => overridden(n, from + n * MINUTE, from + (n + 1) * MINUTE));
    given(created, ...full(NOW + MINUTE))
      .when(createOnCallOverride, override(-9, -8), active)
      .thenRefused('conflict', 'no more than 200 overrides of a schedule');
    const past = full(NOW - 2 * MAX_OVERRIDES * MINUTE);
    given(created, ...past)
      .when(createOnCallOverride, override(0, 1), active)
      .then({ type: 'OnCallOverrideCreated', data: { ...override(0, 1), overrideId: id, effectiveAt: iso(NOW) } });
    given(created, ...past, overridden(999, NOW, NOW + MINUTE, NOW))
      .when(removeOnCallOverride, { scheduleId, overrideId: past[0]!.data.overrideId })
      .thenRefused('notFound');
  });
});

describe('a calendar', () => {
  it('is shared once, and revoked once', () => {
    const shared = {
      type: 'OnCallCalendarShared' as const,
      data: { scheduleId, calendarId: adminUserId, effectiveAt: iso(NOW - MINUTE) },
    };
    given(created, shared)
      .when(shareOnCallCalendar, { scheduleId })
      .then({ type: 'OnCallCalendarShared', data: { scheduleId, calendarId: id, effectiveAt: iso(NOW) } });
    given(created, shared)
      .when(revokeOnCallCalendar, { scheduleId })
      .then({ type: 'OnCallCalendarRevoked', data: { scheduleId, calendarId: adminUserId, effectiveAt: iso(NOW) } });
    given(created).when(revokeOnCallCalendar, { scheduleId }).thenNothing();
    expect(shareOnCallCalendar.freshens).toEqual(['on_call_schedules']);
  });
});
