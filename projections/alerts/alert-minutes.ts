import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import type { TriageMove, TriageState } from '../../src/contexts/alerts/domain/triage-state.ts';
import { at, bigint, defineReadModel, integer, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const figures = {
  raised: integer,
  critical: integer,
  high: integer,
  medium: integer,
  low: integer,
  acknowledged: integer,
  resolved: integer,
  false_positive: integer,
  /** Total time from raising to acknowledgement, over the acknowledged alerts. */
  acknowledge_ms: bigint,
  resolve_ms: bigint,
};
const columns = { minute: timestamp, ...figures };
export type AlertMinuteRow = Row<{ columns: typeof columns }>;
export type AlertFigures = Omit<AlertMinuteRow, 'minute'>;

const names = Object.keys(figures) as (keyof AlertFigures)[];
export const noFigures = Object.fromEntries(names.map((name) => [name, 0])) as unknown as AlertFigures;
export const sumAlertFigures = (a: AlertFigures, b: AlertFigures, sign = 1): AlertFigures =>
  Object.fromEntries(names.map((name) => [name, a[name] + sign * b[name]])) as unknown as AlertFigures;

/** Never negative, although the clocks of two nodes may disagree. */
const between = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));

/** The contribution of one alert to the minute in which it was raised. */
const shareOf = ({ raisedAt, severity, status, acknowledgedAt, resolvedAt }: TriageState): AlertFigures => ({
  ...noFigures,
  raised: 1,
  [severity]: 1,
  acknowledged: acknowledgedAt ? 1 : 0,
  resolved: status === 'resolved' ? 1 : 0,
  false_positive: status === 'false_positive' ? 1 : 0,
  acknowledge_ms: acknowledgedAt ? between(raisedAt, acknowledgedAt) : 0,
  resolve_ms: resolvedAt ? between(raisedAt, resolvedAt) : 0,
});

const minuteOf = (moment: string): string => `${moment.slice(0, 16)}:00.000Z`;

const raised = (standing: TriageState) => ({
  key: { minute: minuteOf(standing.raisedAt) },
  fold: (row: AlertMinuteRow | undefined) => ({
    minute: minuteOf(standing.raisedAt),
    ...sumAlertFigures(row ?? noFigures, shareOf(standing)),
  }),
});

const moved = ({ was, is }: TriageMove) =>
  was && is
    ? {
        key: { minute: minuteOf(is.raisedAt) },
        fold: (row: AlertMinuteRow | undefined) =>
          row && { minute: row.minute, ...sumAlertFigures(sumAlertFigures(row, shareOf(was), -1), shareOf(is)) },
      }
    : [];

/**
 * A tenant's alerts by the minute in which they were raised, with their current state (choices OP-082, OP-084). Minutes
 * without alerts have no row. Any window and any calendar day is a sum of rows.
 */
export const alertMinutes = defineReadModel({
  name: 'alert_minutes',
  version: 1,
  lane: 'main',
  columns,
  key: ['minute'],
  families: [alertEvents],
  on: {
    AlertRaised: (event) =>
      raised({
        raisedAt: event.data.raisedAt ?? at(event),
        severity: event.data.severity,
        status: 'open',
        acknowledgedAt: null,
        resolvedAt: null,
      }),
    AlertAcknowledged: ({ data }) => moved(data),
    AlertResolved: ({ data }) => moved(data),
    AlertReopened: ({ data }) => moved(data),
    AlertSeverityChanged: ({ data }) => moved(data),
  },
});
