import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { observationSchema } from './observation.ts';

/**
 * The remainder of a telemetry batch after its person was erased: hosts and counts, on its own stream, without person
 * and device. The event replaces `TelemetryRecorded` in the log, so that a rebuild counts the same as before. It is
 * never appended.
 */
export const anonymousTelemetryEvents = defineEvents('anonymousTelemetry', {
  AnonymousTelemetryRecorded: {
    version: 1,
    schema: z.object({ observations: z.array(observationSchema) }),
    audit: false,
  },
});
