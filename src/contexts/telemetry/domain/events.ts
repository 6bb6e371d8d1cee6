import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { observationSchema, personalFields } from './observation.ts';

/**
 * What one device reported of one day: short streams that retention trims, and that no command about anything else folds.
 * A batch is one event, so taking in 500 observations costs one append.
 */
export const telemetryEvents = defineEvents('deviceDay', {
  TelemetryRecorded: {
    version: 1,
    schema: z.object({
      deviceId: uuid(),
      userId: uuid(),
      /** The device's own count of its batches; gaps and repeats tell of lost and replayed ones (choice OP-153). */
      deviceSequence: z.int().nullable(),
      /** What the tenant asked of its extensions when the batch came in: what an alert about it was judged under. */
      extensionMode: z.string().nullable(),
      policyVersion: z.string().nullable(),
      observations: z.array(observationSchema),
    }),
    personal: { subject: 'userId', fields: personalFields.map((field) => `observations[].${field}`) },
    audit: false,
  },
  /**
   * A batch of which nothing was new, or in which fields sounded like secrets. Only the words by which they were recognized
   * are kept (`password`, `token`): what a broken extension calls its fields may be a secret itself.
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
  /** A sign of life, recorded when something changed and otherwise every few minutes at most. */
  DeviceHeartbeatRecorded: {
    version: 1,
    schema: z.object({
      deviceId: uuid(),
      userId: uuid(),
      receivedAt: z.iso.datetime(),
      extensionVersion: z.string(),
      browserVersion: z.string().nullable(),
      osVersion: z.string().nullable(),
      /** The policies that the extension works by, as it says. */
      policyVersion: z.string().nullable(),
    }),
    audit: false,
  },
});
export type TelemetryEvent = EventOf<typeof telemetryEvents>;
