import type { HaltRule, RolloutFigures, RolloutStage, VersionFigures } from './events.ts';

/**
 * A device's errors count up to this number in an hour. So one device, however many errors it reports, moves the rate of
 * a version by little, in either direction.
 */
export const ERRORS_PER_HOUR = 10;

export const NO_FIGURES: VersionFigures = { devices: 0, affectedDevices: 0, deviceHours: 0, errors: 0 };

/** Errors of a device in an hour; 0 before the first heartbeat. */
export const errorRate = ({ errors, deviceHours }: VersionFigures): number =>
  deviceHours === 0 ? 0 : errors / deviceHours;

/**
 * Whether the new version is too bad to go on: enough errors, of enough devices, and more of them an hour and device than
 * `factor` times those of all other versions in the same time. Without a comparison (no other version reported), enough
 * errors are enough.
 */
export const isTooBad = (
  { candidate, baseline }: RolloutFigures,
  { factor, minErrors, minDevices }: HaltRule,
): boolean =>
  candidate.errors >= minErrors &&
  candidate.affectedDevices >= minDevices &&
  errorRate(candidate) > factor * errorRate(baseline);

export type RolloutVerdict = 'halt' | 'advance' | 'wait';

interface Judged {
  readonly figures: RolloutFigures;
  readonly rule: HaltRule;
  readonly stage: Pick<RolloutStage, 'soakHours'>;
  /** Milliseconds since the stage began, or the rollout was resumed. */
  readonly soakedMs: number;
}

const HOUR_MS = 3_600_000;

/** Time alone proves nothing: a stage ends by itself only if a device has reported with the new version. */
export function judge({ figures, rule, stage: { soakHours }, soakedMs }: Judged): RolloutVerdict {
  if (isTooBad(figures, rule)) return 'halt';
  const hasSoaked = soakHours !== null && soakedMs >= soakHours * HOUR_MS && figures.candidate.devices > 0;
  return hasSoaked ? 'advance' : 'wait';
}
