import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { imageTypes } from './image.ts';

/**
 * Screenshots of one device on one day. Retention trims these streams, like telemetry. The image is an object outside
 * the log, sealed under the person's own key. It is stored before the event.
 */
export const screenshotEvents = defineEvents('screenshotDay', {
  ScreenshotTaken: {
    version: 1,
    schema: z.object({
      screenshotId: uuid(),
      deviceId: uuid(),
      userId: uuid(),
      /** The observation that the screenshot belongs to. */
      eventId: uuid(),
      /** `YYYY-MM-DD` in UTC: the day of the observation. */
      day: z.string(),
      /** Scheme, host and port of the page. */
      origin: z.string(),
      /** Time of the device's clock. */
      capturedAt: z.iso.datetime(),
      mediaType: z.enum(imageTypes),
      width: z.int(),
      height: z.int(),
      /** Size of the image before sealing. */
      bytes: z.int(),
    }),
    personal: { subject: 'userId', fields: ['origin'] },
    audit: false,
  },
});
export type ScreenshotEvent = EventOf<typeof screenshotEvents>;
