import { describe, expect, it } from 'vitest';
import { DEFAULT_PREFERENCES, type MobilePreferences } from '../../../src/contexts/mobile/domain/preferences.ts';
import {
  selectPushes,
  type AlertToPush,
  type PushFilters,
  type PushPerson,
} from '../../../src/contexts/notifications/domain/push-selection.ts';
import { isQuiet } from '../../../src/contexts/notifications/domain/quiet-time.ts';

const NOON = Date.parse('2026-06-01T12:00:00Z');
const all: PushFilters = { severities: [], alertTypes: [], groupIds: [], scheduleId: null };
const alert = (over: Partial<AlertToPush> = {}): AlertToPush => ({
  severity: 'high',
  alertType: 'breached_password',
  groupIds: [],
  ...over,
});
const person = (over: Partial<PushPerson> = {}, preferences: Partial<MobilePreferences> = {}): PushPerson => ({
  adminId: 'ann',
  mayUseMobile: true,
  preferences: { ...DEFAULT_PREFERENCES, ...preferences },
  deviceIds: ['phone'],
  onCallIn: new Set(['primary']),
  takesPartIn: new Set(['primary']),
  ...over,
});
/** `sent`, the reason why not, or `not meant`. */
const fate = (rules: readonly PushFilters[], about: AlertToPush, one: PushPerson, now = NOON) => {
  const { sent, withheld } = selectPushes(rules, about, [one], now);
  return sent.length > 0 ? 'sent' : (withheld[0]?.reason ?? 'not meant');
};

describe('a push rule (OP-186)', () => {
  it('selects every alert and everybody on call if it says nothing', () => {
    expect(fate([all], alert(), person())).toBe('sent');
    expect(fate([all], alert(), person({ onCallIn: new Set() }))).toBe('not meant');
    expect(fate([], alert(), person())).toBe('not meant');
  });

  it.each([
    ['one of its severities', { severities: ['high', 'low'] }, {}, 'sent'],
    ['another severity', { severities: ['critical'] }, {}, 'not meant'],
    ['one of its types', { alertTypes: ['weak_password', 'breached_password'] }, {}, 'sent'],
    ['another type', { alertTypes: ['weak_password'] }, {}, 'not meant'],
    ['one of its groups', { groupIds: ['sales', 'board'] }, { groupIds: ['board', 'staff'] }, 'sent'],
    ['another group', { groupIds: ['sales'] }, { groupIds: ['board'] }, 'not meant'],
    ['nobody, where it names groups', { groupIds: ['sales'] }, {}, 'not meant'],
    ['a matching severity and another type', { severities: ['high'], alertTypes: ['weak_password'] }, {}, 'not meant'],
  ] as const)('with filters and an alert of %s', (_case, filters, about, expected) => {
    expect(fate([{ ...all, ...filters }], alert(about), person())).toBe(expected);
  });

  it('means those on call in its schedule', () => {
    const rule = { ...all, scheduleId: 'secondary' };
    expect(fate([rule], alert(), person())).toBe('not meant');
    expect(fate([rule], alert(), person({ onCallIn: new Set(['secondary']) }))).toBe('sent');
  });

  it('sends one push to a person whom several rules mean', () => {
    expect(selectPushes([all, { ...all, scheduleId: 'primary' }], alert(), [person()], NOON).sent).toHaveLength(1);
  });
});

describe('the preferences of a person (OP-191)', () => {
  it.each([
    ['no_mobile_access', { mayUseMobile: false }, {}],
    ['no_device', { deviceIds: [] }, {}],
    ['push_off', {}, { pushEnabled: false }],
    ['severity', {}, { minSeverity: 'critical' }],
    ['alert_type', {}, { alertTypes: ['weak_password'] }],
    ['quiet_hours', {}, { quietHours: { enabled: true, start: '11:00', end: '13:00', timezone: 'UTC' } }],
  ] as const)('withhold a push: %s', (reason, over, preferences) => {
    expect(fate([all], alert(), person(over, preferences as Partial<MobilePreferences>))).toBe(reason);
  });

  it('cannot hold back a critical alert by quiet hours, but by anything else', () => {
    const quietHours = { enabled: true, start: '00:00', end: '00:00', timezone: 'UTC' };
    const critical = alert({ severity: 'critical' });
    expect(fate([all], critical, person({}, { quietHours }))).toBe('sent');
    expect(fate([all], critical, person({}, { quietHours, pushEnabled: false }))).toBe('push_off');
  });

  it('may ask for pushes beside the shifts, from schedules that they take part in', () => {
    const off = person({ onCallIn: new Set() }, { onlyWhenOnCall: false });
    expect(fate([all], alert(), off)).toBe('sent');
    expect(fate([{ ...all, scheduleId: 'primary' }], alert(), off)).toBe('sent');
    expect(fate([{ ...all, scheduleId: 'secondary' }], alert(), off)).toBe('not meant');
  });
});

describe('quiet hours', () => {
  const quiet = (start: string, end: string, at: string, timezone = 'UTC') =>
    isQuiet({ enabled: true, start, end, timezone }, Date.parse(at));

  it('include their start and exclude their end', () => {
    expect(quiet('11:00', '13:00', '2026-06-01T10:59:59Z')).toBe(false);
    expect(quiet('11:00', '13:00', '2026-06-01T11:00:00Z')).toBe(true);
    expect(quiet('11:00', '13:00', '2026-06-01T12:59:59Z')).toBe(true);
    expect(quiet('11:00', '13:00', '2026-06-01T13:00:00Z')).toBe(false);
  });

  it('reach over midnight', () => {
    expect(quiet('22:00', '07:00', '2026-06-01T23:30:00Z')).toBe(true);
    expect(quiet('22:00', '07:00', '2026-06-01T06:59:00Z')).toBe(true);
    expect(quiet('22:00', '07:00', '2026-06-01T07:00:00Z')).toBe(false);
  });

  it("follow the clocks of the person's zone, also when they change", () => {
    expect(quiet('22:00', '07:00', '2026-06-01T20:30:00Z', 'Europe/Paris')).toBe(true);
    expect(quiet('22:00', '07:00', '2026-01-01T20:30:00Z', 'Europe/Paris')).toBe(false);
    // Clocks go from 02:00 to 03:00 at 01:00 UTC.
    expect(quiet('02:00', '03:00', '2026-03-29T00:59:00Z', 'Europe/Paris')).toBe(false);
    expect(quiet('02:00', '03:00', '2026-03-29T01:00:00Z', 'Europe/Paris')).toBe(false);
    // 02:30 is shown twice.
    expect(quiet('02:00', '03:00', '2026-10-25T00:30:00Z', 'Europe/Paris')).toBe(true);
    expect(quiet('02:00', '03:00', '2026-10-25T01:30:00Z', 'Europe/Paris')).toBe(true);
  });

  it('are off, or last all day', () => {
    expect(isQuiet({ enabled: false, start: '00:00', end: '23:59', timezone: 'UTC' }, NOON)).toBe(false);
    expect(quiet('08:00', '08:00', '2026-06-01T12:00:00Z')).toBe(true);
  });
});
