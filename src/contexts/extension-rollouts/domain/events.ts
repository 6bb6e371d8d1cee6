import { z } from 'zod';
import { browserTypes } from '../../devices/domain/events.ts';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** Devices that a stage adds to those of the stages before it. */
export const rolloutStage = z.object({
  groupIds: z.array(uuid()),
  /** Share of all devices of the rollout in percent, in hundredths. */
  percent: z.number(),
  /** The next stage begins by itself after so many hours without a halt. Null: by hand. */
  soakHours: z.number().nullable(),
});
export type RolloutStage = z.output<typeof rolloutStage>;

/** When a rollout halts by itself; see `judge`. */
export const haltRule = z.object({ factor: z.number(), minErrors: z.int(), minDevices: z.int() });
export type HaltRule = z.output<typeof haltRule>;

/** What an administrator decides about a rollout. */
export const rolloutContent = z.object({
  version: z.string(),
  /** Null: all browsers. */
  browserType: z.enum(browserTypes).nullable(),
  /** Where devices with the new version return to. Null: they keep it. */
  rollbackVersion: z.string().nullable(),
  /** Whether they return as soon as the rollout halts, and not only when it is rolled back. */
  returnsOnHalt: z.boolean(),
  stages: z.array(rolloutStage),
  halt: haltRule,
});
export type RolloutContent = z.output<typeof rolloutContent>;

/** Devices with one side of the comparison: the new version, or any other. */
export const versionFigures = z.object({
  devices: z.int(),
  /** Devices that reported at least one error. */
  affectedDevices: z.int(),
  /** Hours in which a device sent a heartbeat, summed over devices. */
  deviceHours: z.int(),
  /** Reported errors, of each device at most `ERRORS_PER_HOUR` an hour. */
  errors: z.int(),
});
export type VersionFigures = z.output<typeof versionFigures>;

/** What was known when a decision was taken. */
export const rolloutFigures = z.object({ candidate: versionFigures, baseline: versionFigures });
export type RolloutFigures = z.output<typeof rolloutFigures>;

const rolloutId = uuid();
/** Index of the stage, from 0. */
const stage = z.int().min(0);
/** Counts starts and resumptions: figures of one round do not count in the next. */
const round = z.int().min(1);
/** When it was decided. */
const decidedAt = z.iso.datetime();

/** Rollouts of versions of our own extension to a tenant's devices. */
export const extensionRolloutEvents = defineEvents('extensionRollout', {
  ExtensionRolloutDrafted: {
    version: 1,
    schema: z.object({
      rolloutId,
      slot: z.int(),
      /** Hexadecimal. Mixed into the buckets of devices, so that nobody outside can compute them. */
      salt: z.string(),
      content: rolloutContent,
    }),
    concealed: ['salt'],
    audit: 'extension_rollout.drafted',
  },
  ExtensionRolloutChanged: {
    version: 1,
    schema: z.object({ rolloutId, content: rolloutContent }),
    audit: 'extension_rollout.changed',
  },
  ExtensionRolloutDeleted: { version: 1, schema: z.object({ rolloutId }), audit: 'extension_rollout.deleted' },
  ExtensionRolloutStarted: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, round }),
    audit: 'extension_rollout.started',
  },
  /** `figures` is null if an administrator decided. */
  ExtensionRolloutAdvanced: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, stage, figures: rolloutFigures.nullable() }),
    audit: 'extension_rollout.advanced',
  },
  ExtensionRolloutPaused: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, stage }),
    audit: 'extension_rollout.paused',
  },
  ExtensionRolloutResumed: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, stage, round }),
    audit: 'extension_rollout.resumed',
  },
  /** Decided by the service: the new version reports too many errors. */
  ExtensionRolloutHalted: {
    version: 1,
    schema: z.object({
      rolloutId,
      decidedAt,
      version: z.string(),
      stage,
      round,
      rule: haltRule,
      figures: rolloutFigures,
      /** Where devices return to at once; null: they stay. */
      returnsTo: z.string().nullable(),
    }),
    audit: 'extension_rollout.halted',
  },
  ExtensionRolloutCompleted: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, stage, figures: rolloutFigures.nullable() }),
    audit: 'extension_rollout.completed',
  },
  ExtensionRolloutRolledBack: {
    version: 1,
    schema: z.object({ rolloutId, decidedAt, stage, returnsTo: z.string().nullable() }),
    audit: 'extension_rollout.rolled_back',
  },
});
export type ExtensionRolloutEvent = EventOf<typeof extensionRolloutEvents>;
