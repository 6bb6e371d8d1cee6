import type { browserTypes } from '../../devices/domain/events.ts';
import { compareVersions } from '../../extensions/domain/version-order.ts';
import { isIncluded, type StagedDevice } from './device-bucket.ts';
import type { RolloutContent } from './events.ts';
import type { RolloutStatus } from './rollout.ts';

/** A rollout that was started, as directions need it. */
export interface StartedRollout extends Pick<
  RolloutContent,
  'version' | 'browserType' | 'rollbackVersion' | 'returnsOnHalt' | 'stages'
> {
  readonly rolloutId: string;
  readonly status: Exclude<RolloutStatus, 'draft'>;
  readonly salt: string;
  readonly stage: number;
  readonly round: number;
}

export interface DirectedDevice extends StagedDevice {
  /** Null: the device did not say. */
  readonly browserType: (typeof browserTypes)[number] | null;
  /** The version that it reported. */
  readonly version: string;
}

/** `update`: to a later version. `return`: to an earlier one. `keep`: stay. */
export const directionActions = ['keep', 'update', 'return'] as const;

export interface VersionDirection {
  readonly action: (typeof directionActions)[number];
  /** The version that the device should run. */
  readonly version: string;
}

const concerns = ({ browserType }: StartedRollout, device: DirectedDevice): boolean =>
  browserType === null || browserType === device.browserType;

/**
 * The version that a device should run; undefined if no rollout has concerned its browser yet. `rollouts`: newest start
 * first. A rollout that does not move the device leaves the direction to the one before it.
 */
export function directionOf(device: DirectedDevice, rollouts: readonly StartedRollout[]): VersionDirection | undefined {
  const concerning = rollouts.filter((rollout) => concerns(rollout, device));
  for (const rollout of concerning) {
    const direction = directionBy(rollout, device);
    if (direction) return direction;
  }
  return concerning.length > 0 ? { action: 'keep', version: device.version } : undefined;
}

function directionBy(rollout: StartedRollout, device: DirectedDevice): VersionDirection | undefined {
  const hasIt = device.version === rollout.version;
  switch (rollout.status) {
    case 'completed':
      return towards(rollout.version, device.version);
    case 'active':
      return hasIt || isIncluded(rollout, rollout.stage, device) ? towards(rollout.version, device.version) : undefined;
    case 'paused':
      return hasIt ? towards(rollout.version, device.version) : undefined;
    case 'halted':
      return hasIt ? back(rollout.returnsOnHalt ? rollout.rollbackVersion : null, device.version) : undefined;
    case 'rolled_back':
      return hasIt ? back(rollout.rollbackVersion, device.version) : undefined;
  }
}

/** Never to an earlier version: only a rollback leads back. */
const towards = (version: string, present: string): VersionDirection =>
  compareVersions(version, present) > 0 ? { action: 'update', version } : { action: 'keep', version: present };

const back = (version: string | null, present: string): VersionDirection =>
  version === null ? { action: 'keep', version: present } : { action: 'return', version };

/** What a heartbeat counts for: the active rollout of the device's browser, and the side of the comparison. */
export interface CountedFor {
  readonly rolloutId: string;
  readonly round: number;
  readonly isCandidate: boolean;
}

export function countedFor(device: DirectedDevice, rollouts: readonly StartedRollout[]): CountedFor | null {
  const active = rollouts.find((rollout) => rollout.status === 'active' && concerns(rollout, device));
  if (!active) return null;
  return { rolloutId: active.rolloutId, round: active.round, isCandidate: device.version === active.version };
}
