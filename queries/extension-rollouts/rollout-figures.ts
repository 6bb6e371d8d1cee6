import type { RolloutFigures } from '../../src/contexts/extension-rollouts/domain/events.ts';

/** Sums of `extension_rollout_devices d` in one round. */
export const FIGURES = `
  count(*) filter (where d.candidate_hours > 0)::int as candidate_devices,
  count(*) filter (where d.candidate_errors > 0)::int as candidate_affected,
  coalesce(sum(d.candidate_hours), 0)::int as candidate_hours,
  coalesce(sum(d.candidate_errors), 0)::int as candidate_errors,
  count(*) filter (where d.baseline_hours > 0)::int as baseline_devices,
  count(*) filter (where d.baseline_errors > 0)::int as baseline_affected,
  coalesce(sum(d.baseline_hours), 0)::int as baseline_hours,
  coalesce(sum(d.baseline_errors), 0)::int as baseline_errors`;

type Side = 'candidate' | 'baseline';
export type FiguresRow = Readonly<Record<`${Side}_${'devices' | 'affected' | 'hours' | 'errors'}`, number>>;

const sideOf = (row: FiguresRow, side: Side) => ({
  devices: row[`${side}_devices`],
  affectedDevices: row[`${side}_affected`],
  deviceHours: row[`${side}_hours`],
  errors: row[`${side}_errors`],
});

export const figuresOf = (row: FiguresRow): RolloutFigures => ({
  candidate: sideOf(row, 'candidate'),
  baseline: sideOf(row, 'baseline'),
});
