import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { observationSchema, personalFields } from './observation.ts';

/**
 * Reports of one device on one day. The streams are short; retention trims them, and no command about anything else
 * folds them. A batch is one event, so recording 500 observations costs one append.
 */
export const telemetryEvents = defineEvents('deviceDay', {
  TelemetryRecorded: {
    version: 1,
    schema: z.object({
      deviceId: uuid(),
      userId: uuid(),
      /** The device's own batch counter. Gaps and repetitions reveal lost and replayed batches (choice OP-153). */
      deviceSequence: z.int().nullable(),
      /** The tenant's extension settings when the batch arrived; alerts about it were judged under them. */
      extensionMode: z.string().nullable(),
      policyVersion: z.string().nullable(),
      observations: z.array(observationSchema),
    }),
    personal: { subject: 'userId', fields: personalFields.map((field) => `observations[].${field}`) },
    audit: false,
  },
  /**
   * A batch without new observations, or with fields that look like secrets. Only the words by which they were
   * recognized are kept (`password`, `token`): the field names of a broken extension may themselves be secrets.
   */
  TelemetryRefused: {
    version: 1,
    schema: z.object({
      deviceId: uuid(),
      userId: uuid(),
      deviceSequence: z.int().nullable(),
      extensionMode: z.string().nullable(),
      policyVersion: z.string().nullable(),
      secretWords: z.array(z.string()),
      occurredAt: z.iso.datetime(),
    }),
    audit: false,
  },
  /** Recorded when something changed, and otherwise at most every few minutes. */
  DeviceHeartbeatRecorded: {
    version: 2,
    schema: z.object({
      deviceId: uuid(),
      userId: uuid(),
      receivedAt: z.iso.datetime(),
      extensionVersion: z.string(),
      browserVersion: z.string().nullable(),
      osVersion: z.string().nullable(),
      /** The policy version that the extension reports to use. */
      policyVersion: z.string().nullable(),
      /** Errors of the extension since its heartbeat before. */
      errors: z.int().min(0),
      /** The active rollout of extension versions that the errors count for, and whether the device runs its version. */
      rollout: z.object({ rolloutId: uuid(), round: z.int(), isCandidate: z.boolean() }).nullable(),
    }),
    upcasters: { 1: (data: object) => ({ errors: 0, rollout: null, ...data }) },
    audit: false,
  },
});
export type TelemetryEvent = EventOf<typeof telemetryEvents>;
