import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../../commands/alerts/record-alert-occurrence.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { effect, type Effect, type StatefulStep } from '../../../platform/kernel/reaction.ts';
import { json, text, type RowOf } from '../../../platform/kernel/read-model.ts';
import { AlertBudget, budgetName, withSummaryDecided, withSummarySeen, type SpentBudget } from './alert-budget.ts';
import { findingFingerprint, type Finding, type Occurrence } from './finding.ts';
import { isMissing, type UnseenSince } from './unseen-alert.ts';

/** An alert of this fingerprint, and the time range of its occurrences. */
interface Window {
  readonly alertId: string;
  readonly first: string;
  readonly last: string;
  readonly isOpen: boolean;
  readonly unseenSince: UnseenSince;
}

/** A row holds either the alerts of a fingerprint, or the remaining budget of a device for a type of alert. */
const columns = { fingerprint: text, windows: json<readonly Window[] | SpentBudget>() };
type Row = RowOf<typeof columns>;
type Step = StatefulStep<Row, 'fingerprint'>;

/** The state of a reaction that raises alerts: one short row per fingerprint. */
export const alertWindows = { columns, key: ['fingerprint'] as const };

const DAY_MS = 24 * 3_600_000;
/** Older alerts of a fingerprint are forgotten; an occurrence that arrives that late opens a new alert. */
const MAX_WINDOWS = 8;
/**
 * UUIDv5 namespace (RFC 9562 §5.5). The id derives from the cause of the alert, so raising it twice has no further
 * effect.
 */
const ALERTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a03';

/**
 * Turns findings into steps (choice OP-089). An open alert with the same fingerprint and an occurrence within 24 hours
 * has occurred again; otherwise a new alert is raised. Times are those of the observations, so a device that was
 * offline changes nothing. Each device has a budget per type of alert; one summary alert counts the findings beyond it.
 */
export function raiseOrRepeat(event: Envelope, findings: readonly Finding[]): Step[] {
  const ofDevice = new Map<string, Finding[]>();
  const steps: Step[] = [];
  for (const finding of findings) {
    if (finding.deviceId === null) steps.push(raiseOrRepeatOne(event, finding, WITHOUT_BUDGET));
    else {
      const name = budgetName(finding.alertType, finding.deviceId);
      ofDevice.set(name, [...(ofDevice.get(name) ?? []), finding]);
    }
  }
  for (const [name, together] of ofDevice) steps.push(...withinBudget(event, name, together));
  return steps;
}

/** Steps run in order: the first reads the budget, the last stores what remains of it. */
function withinBudget(event: Envelope, fingerprint: string, findings: readonly Finding[]): Step[] {
  const budget = new AlertBudget(fingerprint, event);
  const begin: Step = {
    key: { fingerprint },
    react: (row) => {
      budget.begin(row && budgetIn(row));
      return { row, effects: [] };
    },
  };
  const end: Step = {
    key: { fingerprint },
    react: (row) => {
      const { spent, effects } = budget.end();
      return { row: spent === (row && budgetIn(row)) ? row : spent && { fingerprint, windows: spent }, effects };
    },
  };
  return [begin, ...findings.map((finding) => raiseOrRepeatOne(event, finding, budget)), end];
}

const isBudget = (state: Row['windows']): state is SpentBudget => !Array.isArray(state);
const budgetIn = ({ windows }: Row): SpentBudget | undefined => (isBudget(windows) ? windows : undefined);
const windowsIn = (row: Row | undefined): readonly Window[] => (row && !isBudget(row.windows) ? row.windows : []);

type Budget = Pick<AlertBudget, 'mayRaise' | 'mayRepeat' | 'count'>;
/** For findings that no device reports: other rules keep them rare. */
const WITHOUT_BUDGET: Budget = { mayRaise: () => true, mayRepeat: () => true, count: () => undefined };

function raiseOrRepeatOne(event: Envelope, finding: Finding, budget: Budget): Step {
  const fingerprint = findingFingerprint(finding);
  return {
    key: { fingerprint },
    react(row) {
      const known = windowsIn(row);
      let windows = known;
      const effects: Effect[] = [];
      for (const [alertId, occurrences] of sortIntoWindows(known, finding, (occurrence) =>
        newAlertId(event, fingerprint, occurrence),
      )) {
        const window = known.find((one) => one.alertId === alertId);
        const isNew = window === undefined;
        const isToRaise = isNew || isMissing(window.unseenSince, event);
        if (isNew ? !budget.mayRaise() : !budget.mayRepeat()) {
          budget.count(finding, occurrences);
          if (isNew) continue;
        } else {
          if (isToRaise) effects.push(raise(alertId, fingerprint, finding, occurrences[0]!));
          const again = isNew ? occurrences.slice(1) : occurrences;
          if (again.length > 0) effects.push(repeat(alertId, event, again));
        }
        windows = widened(windows, alertId, occurrences, isToRaise ? event.recordedAt : window.unseenSince);
      }
      return { row: windows === known ? row : { fingerprint, windows }, effects };
    },
  };
}

/** Closes or reopens the window of an alert: a closed alert takes no further occurrences. */
export const setAlertOpen = (fingerprint: string, alertId: string, isOpen: boolean): Step => ({
  key: { fingerprint },
  react: (row) => ({
    row: row && {
      ...row,
      windows: isBudget(row.windows)
        ? withSummaryDecided(row.windows, alertId, isOpen)
        : row.windows.map((window) => (window.alertId === alertId ? { ...window, isOpen } : window)),
    },
    effects: [],
  }),
});

/** Records that an alert was raised: its event is in the log. */
export const setAlertSeen = (fingerprint: string, alertId: string): Step => ({
  key: { fingerprint },
  react: (row) => ({
    row: row && {
      ...row,
      windows: isBudget(row.windows)
        ? withSummarySeen(row.windows, alertId)
        : row.windows.map((window) => (window.alertId === alertId ? { ...window, unseenSince: null } : window)),
    },
    effects: [],
  }),
});

/** Assigns each occurrence to an alert: a known one, or a new one that its first occurrence opens. */
function sortIntoWindows(
  known: readonly Window[],
  { occurrences }: Finding,
  newId: (first: Occurrence) => string,
): Map<string, Occurrence[]> {
  let windows = known;
  const sorted = new Map<string, Occurrence[]>();
  for (const occurrence of occurrences) {
    const { alertId } = windows.find((window) => window.isOpen && isNear(window, occurrence)) ?? {
      alertId: newId(occurrence),
    };
    const together = sorted.get(alertId);
    if (together) together.push(occurrence);
    else sorted.set(alertId, [occurrence]);
    windows = widened(windows, alertId, [occurrence], null);
  }
  return sorted;
}

const isNear = ({ first, last }: Window, { occurredAt }: Occurrence): boolean =>
  Date.parse(occurredAt) >= Date.parse(first) - DAY_MS && Date.parse(occurredAt) <= Date.parse(last) + DAY_MS;

function widened(
  windows: readonly Window[],
  alertId: string,
  occurrences: readonly Occurrence[],
  unseenSince: UnseenSince,
): readonly Window[] {
  const known = windows.find((window) => window.alertId === alertId);
  const times = [
    ...occurrences.map(({ occurredAt }) => occurredAt),
    ...(known ? [known.first, known.last] : []),
  ].sort();
  const window = { alertId, first: times[0]!, last: times.at(-1)!, isOpen: true, unseenSince };
  const others = windows.filter((other) => other !== known);
  return [window, ...others].sort((a, b) => (a.last < b.last ? 1 : -1)).slice(0, MAX_WINDOWS);
}

const newAlertId = ({ tenantId }: Envelope, fingerprint: string, { observationId }: Occurrence): string =>
  v5(`${tenantId}|${fingerprint}|${observationId}`, ALERTS);

function raise(alertId: string, fingerprint: string, finding: Finding, { observationId }: Occurrence): Effect {
  const { alertType, severity, title, description, userId, deviceId, domain, url, metadata } = finding;
  // Listed field by field: TypeScript does not check excess properties of a spread.
  return effect(raiseAlert, {
    alertId,
    fingerprint,
    alertType,
    severity,
    title,
    description,
    userId,
    deviceId,
    domain,
    url,
    metadata,
    cause: observationId,
  });
}

const repeat = (alertId: string, { id }: Envelope, occurrences: readonly Occurrence[]): Effect =>
  effect(recordAlertOccurrence, {
    alertId,
    cause: id,
    occurrences: occurrences.length,
    occurredAt: occurrences.at(-1)!.occurredAt,
  });
