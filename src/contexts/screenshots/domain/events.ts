import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { imageTypes } from './image.ts';

/**
 * What one device photographed of one day: like telemetry, these streams are trimmed by retention. The picture itself is an
 * object beside the log, sealed under the person's own key; it is there before the event says so.
 */
export const screenshotEvents = defineEvents('screenshotDay', {
  ScreenshotTaken: {
    version: 1,
    schema: z.object({
      screenshotId: uuid(),
      deviceId: uuid(),
      userId: uuid(),
      /** The observation that it belongs to. */
      eventId: uuid(),
      /** In UTC, `YYYY-MM-DD`: when the observation occurred. */
      day: z.string(),
      /** Scheme, host and port of the page. */
      origin: z.string(),
      /** By the device's clock. */
      capturedAt: z.iso.datetime(),
      mediaType: z.enum(imageTypes),
      width: z.int(),
      height: z.int(),
      /** Of the picture, before it was sealed. */
      bytes: z.int(),
    }),
    personal: { subject: 'userId', fields: ['origin'] },
    audit: false,
  },
});
export type ScreenshotEvent = EventOf<typeof screenshotEvents>;
