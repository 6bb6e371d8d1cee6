import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** Who viewed which screenshot. Retention deletes the image but not this record. */
export const screenshotViewEvents = defineEvents('screenshotViews', {
  ScreenshotViewed: {
    version: 1,
    schema: z.object({
      screenshotId: uuid(),
      /** The image itself, or an address that shows it for a limited time. */
      shown: z.enum(['picture', 'address']),
    }),
    about: { resource: 'screenshot', id: 'screenshotId' },
    audit: 'screenshot.viewed',
  },
});

/** No decision depends on views. */
export const screenshotViews = defineAggregate(screenshotViewEvents, {}, (state) => state);
/** One stream per administrator session, so that concurrent viewers of one image do not contend. */
export const screenshotViewsStream = (tenantId: TenantId, sessionId: string): string =>
  streamName('screenshotViews', tenantId, sessionId);
