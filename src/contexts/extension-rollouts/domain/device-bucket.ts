import { hash } from 'node:crypto';
import type { RolloutStage } from './events.ts';

/** Hundredths of a percent. */
export const BUCKETS = 10_000;

/**
 * The bucket of a device in a rollout, from 0 to 9,999: the first four octets of SHA-256 of `<salt>|<device id>`, as an
 * unsigned number, modulo 10,000. Device ids are made by the service and the salt is not shown, so no device can choose
 * its bucket; a salt of its own for each rollout means that not always the same devices come first. The query of the
 * progress computes the same in SQL (`queries/extension-rollouts/rollout-progress.ts`).
 */
export const bucketOf = (salt: string, deviceId: string): number =>
  hash('sha256', `${salt}|${deviceId}`, 'buffer').readUInt32BE(0) % BUCKETS;

/** The number of buckets that a share takes, from 0: a greater share keeps all devices of a smaller one. */
export const bucketsOf = (percent: number): number => Math.round((percent * BUCKETS) / 100);

export interface StagedDevice {
  readonly deviceId: string;
  readonly groupIds: readonly string[];
}

/** Whether the device belongs to this stage (index from 0) or to one before it. */
export function isIncluded(
  { salt, stages }: { readonly salt: string; readonly stages: readonly RolloutStage[] },
  stage: number,
  { deviceId, groupIds }: StagedDevice,
): boolean {
  const begun = stages.slice(0, stage + 1);
  const bucket = bucketOf(salt, deviceId);
  return begun.some(
    (one) => bucket < bucketsOf(one.percent) || one.groupIds.some((groupId) => groupIds.includes(groupId)),
  );
}
