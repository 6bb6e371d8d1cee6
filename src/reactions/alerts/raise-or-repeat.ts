import { v5 } from 'uuid';
import { raiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../commands/alerts/record-alert-occurrence.ts';
import type { Envelope } from '../../kernel/event.ts';
import type { Effect, StatefulStep } from '../../kernel/reaction.ts';
import { json, text, type RowOf } from '../../kernel/read-model.ts';
import { fingerprintOf, type Finding, type Occurrence } from './finding.ts';

/** An alert of this fingerprint, and the time over which its occurrences spread. */
interface Window {
  readonly alertId: string;
  readonly first: string;
  readonly last: string;
  readonly isOpen: boolean;
}

const columns = { fingerprint: text, windows: json<readonly Window[]>() };
type Row = RowOf<typeof columns>;
type Step = StatefulStep<Row, 'fingerprint'>;

/** The state of a reaction that raises alerts: one short row a fingerprint. */
export const alertWindows = { version: 1, columns, key: ['fingerprint'] as const };

const DAY_MS = 24 * 3_600_000;
/** Older alerts of a fingerprint are not remembered: what comes so late opens a new one. */
const MOST_WINDOWS = 8;
/** RFC 9562 §5.5: an alert's id is a function of what raised it, so that raising it twice is raising it once. */
const ALERTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a03';

/**
 * Something was found. If an unresolved alert about the same saw it within 24 hours it has occurred again, otherwise a new
 * alert is raised (choice OP-089). Time is the observations' own, so a device that was offline changes nothing.
 */
export function raiseOrRepeat(event: Envelope, finding: Finding): Step {
  const fingerprint = fingerprintOf(finding);
  return {
    key: { fingerprint },
    react(row) {
      let windows = row?.windows ?? [];
      const effects: Effect[] = [];
      for (const [alertId, occurrences] of sortIntoWindows(windows, finding, (occurrence) => newAlertId(event, fingerprint, occurrence))) {
        const isNew = !windows.some((window) => window.alertId === alertId);
        if (isNew) effects.push(raise(alertId, fingerprint, finding, occurrences[0]!));
        const again = isNew ? occurrences.slice(1) : occurrences;
        if (again.length > 0) effects.push(repeat(alertId, event, again));
        windows = widened(windows, alertId, occurrences);
      }
      return { row: { fingerprint, windows }, effects };
    },
  };
}

/** Somebody decided about an alert: it stops, or starts again, to take in what repeats. */
export const setOpen = (fingerprint: string, alertId: string, isOpen: boolean): Step => ({
  key: { fingerprint },
  react: (row) => ({
    row: row && { ...row, windows: row.windows.map((window) => (window.alertId === alertId ? { ...window, isOpen } : window)) },
    effects: [],
  }),
});

/** Which alert each occurrence belongs to: one that is there, or a new one that the first of its kind opens. */
function sortIntoWindows(known: readonly Window[], { occurrences }: Finding, newId: (first: Occurrence) => string): Map<string, Occurrence[]> {
  let windows = known;
  const sorted = new Map<string, Occurrence[]>();
  for (const occurrence of occurrences) {
    const { alertId } = windows.find((window) => window.isOpen && isNear(window, occurrence)) ?? { alertId: newId(occurrence) };
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
  const times = [...occurrences.map(({ occurredAt }) => occurredAt), ...(known ? [known.first, known.last] : [])].sort();
  const window = { alertId, first: times[0]!, last: times.at(-1)!, isOpen: true };
  const others = windows.filter((other) => other !== known);
  return [window, ...others].sort((a, b) => (a.last < b.last ? 1 : -1)).slice(0, MOST_WINDOWS);
}

const newAlertId = ({ tenantId }: Envelope, fingerprint: string, { observationId }: Occurrence): string =>
  v5(`${tenantId}|${fingerprint}|${observationId}`, ALERTS);

function raise(alertId: string, fingerprint: string, finding: Finding, { observationId }: Occurrence): Effect {
  const { occurrences: _occurrences, about: _about, ...found } = finding;
  return { command: raiseAlert, input: { alertId, fingerprint, ...found, cause: observationId } };
}

const repeat = (alertId: string, { id }: Envelope, occurrences: readonly Occurrence[]): Effect => ({
  command: recordAlertOccurrence,
  input: { alertId, cause: id, occurrences: occurrences.length, occurredAt: occurrences.at(-1)!.occurredAt },
});
