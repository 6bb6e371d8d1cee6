import { severities, type AlertType, type Severity } from '../../alerts/domain/vocabulary.ts';
import type { MobilePreferences } from '../../mobile/domain/preferences.ts';
import { isQuiet } from './quiet-time.ts';

/** The part of a push rule that selects alerts (OP-186). */
export interface PushFilters {
  readonly severities: readonly Severity[];
  readonly alertTypes: readonly AlertType[];
  readonly groupIds: readonly string[];
  readonly scheduleId: string | null;
}

export interface AlertToPush {
  readonly severity: Severity;
  readonly alertType: AlertType;
  /** Groups of the person whom the alert is about; empty if it is about nobody. */
  readonly groupIds: readonly string[];
}

/** An administrator, as far as it matters whether a push reaches them. */
export interface PushPerson {
  readonly adminId: string;
  /** OP-046, and the account is active. */
  readonly mayUseMobile: boolean;
  readonly preferences: MobilePreferences;
  readonly deviceIds: readonly string[];
  /** Schedules that this person is on call in at the moment. */
  readonly onCallIn: ReadonlySet<string>;
  /** Schedules that this person takes turns in. */
  readonly takesPartIn: ReadonlySet<string>;
}

/** Why somebody whom a rule selects gets no push. */
export const withheldReasons = [
  'no_mobile_access',
  'push_off',
  'severity',
  'alert_type',
  'quiet_hours',
  'no_device',
] as const;
export type WithheldReason = (typeof withheldReasons)[number];

const isAmong = <T>(filter: readonly T[], value: T): boolean => filter.length === 0 || filter.includes(value);

/** Filters that are set must all match; within one, one value is enough. */
export const selectsAlert = (rule: PushFilters, alert: AlertToPush): boolean =>
  isAmong(rule.severities, alert.severity) &&
  isAmong(rule.alertTypes, alert.alertType) &&
  (rule.groupIds.length === 0 || rule.groupIds.some((id) => alert.groupIds.includes(id)));

/**
 * Whether a rule is about this person at this moment: somebody on call in its schedule, or in any schedule if it names
 * none. Who turned `onlyWhenOnCall` off is always meant by a rule without schedule, and by those of the schedules that
 * they take turns in.
 */
export function selectsPerson({ scheduleId }: PushFilters, person: PushPerson): boolean {
  const { onCallIn, takesPartIn, preferences } = person;
  if (scheduleId === null) return onCallIn.size > 0 || !preferences.onlyWhenOnCall;
  return onCallIn.has(scheduleId) || (!preferences.onlyWhenOnCall && takesPartIn.has(scheduleId));
}

const reaches = (severity: Severity, least: Severity): boolean =>
  severities.indexOf(severity) <= severities.indexOf(least);

/** Why a person does not want to be notified of an alert now; undefined if they do. `now` is in epoch milliseconds. */
export function unwantedBecause(
  { severity, alertType }: Pick<AlertToPush, 'severity' | 'alertType'>,
  { minSeverity, alertTypes, quietHours }: MobilePreferences,
  now: number,
): 'severity' | 'alert_type' | 'quiet_hours' | undefined {
  if (!reaches(severity, minSeverity)) return 'severity';
  if (!isAmong(alertTypes, alertType)) return 'alert_type';
  return severity !== 'critical' && isQuiet(quietHours, now) ? 'quiet_hours' : undefined;
}

/** Undefined: a push about the alert may go to this person now. `now` is in epoch milliseconds. */
export function withheldBecause(alert: AlertToPush, person: PushPerson, now: number): WithheldReason | undefined {
  const { preferences } = person;
  if (!person.mayUseMobile) return 'no_mobile_access';
  if (!preferences.pushEnabled) return 'push_off';
  return unwantedBecause(alert, preferences, now) ?? (person.deviceIds.length === 0 ? 'no_device' : undefined);
}

export interface PushSelection<Person extends PushPerson> {
  readonly sent: readonly Person[];
  readonly withheld: readonly { readonly person: Person; readonly reason: WithheldReason }[];
}

/** Who gets a push about an alert, and who of those on call does not. Each person counts once, whatever rules match. */
export function selectPushes<Person extends PushPerson>(
  rules: readonly PushFilters[],
  alert: AlertToPush,
  people: readonly Person[],
  now: number,
): PushSelection<Person> {
  const matching = rules.filter((rule) => selectsAlert(rule, alert));
  const meant = people.filter((person) => matching.some((rule) => selectsPerson(rule, person)));
  const judged = meant.map((person) => ({ person, reason: withheldBecause(alert, person, now) }));
  return {
    sent: judged.flatMap(({ person, reason }) => (reason === undefined ? [person] : [])),
    withheld: judged.flatMap(({ person, reason }) => (reason === undefined ? [] : [{ person, reason }])),
  };
}
