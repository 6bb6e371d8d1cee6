import { z } from 'zod';
import type { AlertFigures } from '../../projections/alerts/alert-minutes.ts';
import { timeframes, windowStart, type Timeframe } from '../../src/contexts/alerts/domain/timeframe.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-084. Metrics of the alerts raised in the time frame, in their current state. */
export const triageMetricsView = z.object({
  timeframe: z.enum(timeframes),
  /** The window, both ends inclusive: 24 hours, 7, 30 or 90 days up to now, and the rest of its first minute. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  totalAlerts: z.int(),
  /** Mean time from raising to closing; null if none is closed. */
  mttrSeconds: z.number().nullable(),
  /** Mean time from raising to acknowledgement; null if none is acknowledged. */
  mttaSeconds: z.number().nullable(),
  /** 0..1 of all alerts; `resolutionRate` likewise. */
  acknowledgmentRate: z.number(),
  resolutionRate: z.number(),
  /** 0..1 of the closed alerts. */
  falsePositiveRate: z.number(),
});
export type TriageMetrics = z.output<typeof triageMetricsView>;

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const meanSeconds = (ms: number, count: number): number | null => (count === 0 ? null : ms / count / 1000);

export const toTriageMetrics = (
  window: Pick<TriageMetrics, 'timeframe' | 'from' | 'to'>,
  { raised, acknowledged, resolved, false_positive, acknowledge_ms, resolve_ms }: AlertFigures,
): TriageMetrics => {
  const closed = resolved + false_positive;
  return {
    ...window,
    totalAlerts: raised,
    mttrSeconds: meanSeconds(resolve_ms, closed),
    mttaSeconds: meanSeconds(acknowledge_ms, acknowledged),
    acknowledgmentRate: share(acknowledged, raised),
    resolutionRate: share(closed, raised),
    falsePositiveRate: share(false_positive, closed),
  };
};

const FIGURES = [
  'raised',
  'critical',
  'high',
  'medium',
  'low',
  'acknowledged',
  'resolved',
  'false_positive',
  'acknowledge_ms',
  'resolve_ms',
];
const SQL = `
  select ${FIGURES.map((name) => `coalesce(sum(${name}), 0)::float8 as ${name}`).join(', ')}
    from alert_minutes where tenant_id = $1 and minute >= $2 and minute <= $3`;

export const triageMetrics: Query<{ timeframe: Timeframe; now: number }, TriageMetrics> = async (
  reads,
  { timeframe, now },
) => {
  const window = { timeframe, from: windowStart(timeframe, now), to: new Date(now).toISOString() };
  return toTriageMetrics(window, (await reads.figures<AlertFigures>(SQL, [window.from, window.to]))!);
};
