import type { z } from 'zod';
import {
  DEFAULT_PREFERENCES,
  mobilePreferences,
  silencesPerson,
} from '../../src/contexts/mobile/domain/preferences.ts';
import { silencesSchedule } from '../../src/contexts/on-call/domain/rota-change.ts';
import { scheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';

/** Declared records of which no change makes people hear of less, each with the reason (decision 0150). */
export const NO_WATCH: Readonly<Record<string, string>> = {
  scopedDomain: 'where policies apply; signals of browsers raise alerts everywhere',
  phishingWhitelistEntry: 'triage of false positives: one domain',
  extensionWhitelistEntry: 'triage of false positives: one extension, as a pattern is no identifier',
  offboardingSettings: 'how long devices of leavers keep certificates that are suspended already',
  signature: 'triage of false positives: one pattern among many',
  clickfixSignature: 'as above',
};

/** Fields of records with a watch that choose something else, by `<noun>.<field>`, each with the reason. */
export const FREE_FIELDS: Readonly<Record<string, string>> = {
  'pushRule.name': 'what people call it',
  'canaryCookie.description': 'as above',
  'onCallSchedule.name': 'as above',
  'extensionMonitoringSettings.inventoryIntervalHours':
    'a browser tells at once of an extension that is installed, updated or gets other permissions; the inventory repeats it',
  'tenantSettings.learningThreshold': 'what browsers do; they report in every mode',
  'tenantSettings.timezone': 'the calendar days of figures and filters',
  'tenantSettings.policyPollSeconds': 'signatures and lists reach browsers a day late at most; they report meanwhile',
  'tenantSettings.heartbeatSeconds': 'a day at most, which is the shortest time after which a browser counts as silent',
  'mobilePreferences.onlyWhenOnCall': 'the person who is on call is called in either case',
  'tenantSettings.extensionMode': 'what browsers do; they report in every mode',
  'tenantSettings.screenshotEnabled': 'evidence beside an alert, which is raised without it',
};

interface ByHand {
  readonly noun: string;
  readonly schema: z.ZodObject;
  readonly on: Readonly<Record<string, unknown>>;
  /** Values to try, by field. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  readonly silences: (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) => boolean;
}

const [ANN, BEN] = ['0198a000-0000-7000-8000-000000000001', '0198a000-0000-7000-8000-000000000002'];
const NOW = Date.parse('2026-06-02T12:00:00Z');

/** Events of records that are not declared, by which a watch is silenced: what decides it, or the test that tries it. */
export const WATCHED_BY_HAND: Readonly<Record<string, ByHand | string>> = {
  OnCallScheduleUpdated: {
    noun: 'onCallSchedule',
    schema: scheduleContent,
    on: {
      name: 'Primary',
      timezone: 'UTC',
      rotationType: 'custom',
      rotationDays: 3,
      handoffTime: '09:00',
      startDate: '2026-01-05',
      participants: [ANN, BEN],
      isEnabled: true,
      escalationMinutes: 15,
      escalationRounds: 2,
    },
    values: {
      name: ['one', 'another'],
      timezone: ['UTC', 'Asia/Tokyo'],
      rotationType: ['daily', 'weekly', 'custom'],
      rotationDays: [1, 365],
      handoffTime: ['00:00', '23:59'],
      startDate: ['2026-01-05', '2026-01-06', '2199-12-31'],
      participants: [[ANN], [BEN]],
      isEnabled: [true, false],
      escalationMinutes: [1, 1_440, null],
      escalationRounds: [1, 5],
    },
    silences: (before, after) => silencesSchedule(scheduleContent.parse(before), scheduleContent.parse(after), NOW),
  },
  MobilePreferencesSet: {
    noun: 'mobilePreferences',
    schema: mobilePreferences,
    on: DEFAULT_PREFERENCES,
    values: {
      pushEnabled: [true, false],
      minSeverity: ['low', 'high', 'critical'],
      alertTypes: [[], ['weak_password']],
      onlyWhenOnCall: [true, false],
      quietHours: ['07:00', '22:00'].map((end) => ({ enabled: true, start: '22:00', end, timezone: 'UTC' })),
    },
    silences: (before, after) => silencesPerson(mobilePreferences.parse(before), mobilePreferences.parse(after)),
  },
  LogDestinationUpdated: 'test/app/http/alerts/ways-out-are-watched.test.ts: switched off, and types of records',
  AlertNotificationSettingsChanged: 'test/app/http/alerts/ways-out-are-watched.test.ts: every way of watch',
  AlertSeveritiesSet: 'test/app/http/alerts/less-is-watched.test.ts: one type of alert, and one severity',
};
