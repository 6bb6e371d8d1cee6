import { z } from 'zod';
import type { AlertFigures } from '../../projections/alerts/alert-hours.ts';
import { timeframes, chartWindowOf, type Timeframe } from '../../src/contexts/alerts/domain/timeframe.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-084. Metrics of the alerts raised in the time frame, in their current state. */
export const triageMetricsView = z.object({
  timeframe: z.enum(timeframes),
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
  timeframe: Timeframe,
  { raised, acknowledged, resolved, false_positive, acknowledge_ms, resolve_ms }: AlertFigures,
): TriageMetrics => {
  const closed = resolved + false_positive;
  return {
    timeframe,
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
    from alert_hours where tenant_id = $1 and hour >= $2`;

export const triageMetrics: Query<{ timeframe: Timeframe; now: number }, TriageMetrics> = async (
  reads,
  { timeframe, now },
) => toTriageMetrics(timeframe, (await reads.figures<AlertFigures>(SQL, [chartWindowOf(timeframe, now).from]))!);
