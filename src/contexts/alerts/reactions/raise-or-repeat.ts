import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../../commands/alerts/record-alert-occurrence.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { effect, type Effect, type StatefulStep } from '../../../platform/kernel/reaction.ts';
import { json, text, type RowOf } from '../../../platform/kernel/read-model.ts';
import { AlertBudget, budgetName, withSummaryDecided, type SpentBudget } from './alert-budget.ts';
import { findingFingerprint, type Finding, type Occurrence } from './finding.ts';

/** An alert of this fingerprint, and the time over which its occurrences spread. */
interface Window {
  readonly alertId: string;
  readonly first: string;
  readonly last: string;
  readonly isOpen: boolean;
}

/** A row holds the alerts of a fingerprint, or what a device has left of its budget for a type of alert. */
const columns = { fingerprint: text, windows: json<readonly Window[] | SpentBudget>() };
type Row = RowOf<typeof columns>;
type Step = StatefulStep<Row, 'fingerprint'>;

/** The state of a reaction that raises alerts: one short row a fingerprint. */
export const alertWindows = { columns, key: ['fingerprint'] as const };

const DAY_MS = 24 * 3_600_000;
/** Older alerts of a fingerprint are not remembered: what comes so late opens a new one. */
const MAX_WINDOWS = 8;
/** RFC 9562 §5.5: an alert's id is a function of what raised it, so that raising it twice is raising it once. */
const ALERTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a03';

/**
 * Things were found. If an unresolved alert about the same saw one within 24 hours it has occurred again, otherwise a new alert
 * is raised (choice OP-089). Time is the observations' own, so a device that was offline changes nothing. A device raises and
 * repeats within its budget for that type of alert; one alert counts what is beyond that.
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

/** Steps run in order: the first reads the budget, the last keeps what is left of it. */
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
/** For what no device reports: other rules keep it rare. */
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
        const isNew = !known.some((window) => window.alertId === alertId);
        if (isNew ? !budget.mayRaise() : !budget.mayRepeat()) {
          budget.count(finding, occurrences);
          if (isNew) continue;
        } else {
          if (isNew) effects.push(raise(alertId, fingerprint, finding, occurrences[0]!));
          const again = isNew ? occurrences.slice(1) : occurrences;
          if (again.length > 0) effects.push(repeat(alertId, event, again));
        }
        windows = widened(windows, alertId, occurrences);
      }
      return { row: windows === known ? row : { fingerprint, windows }, effects };
    },
  };
}

/** Somebody decided about an alert: it stops, or starts again, to take in what repeats. */
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

/** Which alert each occurrence belongs to: one that is there, or a new one that the first of its kind opens. */
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
    windows = widened(windows, alertId, [occurrence]);
  }
  return sorted;
}

const isNear = ({ first, last }: Window, { occurredAt }: Occurrence): boolean =>
  Date.parse(occurredAt) >= Date.parse(first) - DAY_MS && Date.parse(occurredAt) <= Date.parse(last) + DAY_MS;

function widened(windows: readonly Window[], alertId: string, occurrences: readonly Occurrence[]): readonly Window[] {
  const known = windows.find((window) => window.alertId === alertId);
  const times = [
    ...occurrences.map(({ occurredAt }) => occurredAt),
    ...(known ? [known.first, known.last] : []),
  ].sort();
  const window = { alertId, first: times[0]!, last: times.at(-1)!, isOpen: true };
  const others = windows.filter((other) => other !== known);
  return [window, ...others].sort((a, b) => (a.last < b.last ? 1 : -1)).slice(0, MAX_WINDOWS);
}

const newAlertId = ({ tenantId }: Envelope, fingerprint: string, { observationId }: Occurrence): string =>
  v5(`${tenantId}|${fingerprint}|${observationId}`, ALERTS);

function raise(alertId: string, fingerprint: string, finding: Finding, { observationId }: Occurrence): Effect {
  const { alertType, severity, title, description, userId, deviceId, domain, url, metadata } = finding;
  // Field by field: the compiler checks no superfluous fields in what is spread.
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
