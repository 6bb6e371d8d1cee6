import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { observationSchema } from './observation.ts';

/**
 * What is left of a batch of telemetry once its person was erased: hosts and counts, on a stream of its own, with neither person nor
 * device. The event takes the place of `TelemetryRecorded` in the log, so that a rebuild counts what was counted live. It is
 * never appended.
 */
export const anonymousTelemetryEvents = defineEvents('anonymousTelemetry', {
  AnonymousTelemetryRecorded: {
    version: 1,
    schema: z.object({ observations: z.array(observationSchema) }),
    audit: false,
  },
});
