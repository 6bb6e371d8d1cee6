import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** Who looked at which picture of somebody's screen: the picture goes with retention, this stays. */
export const screenshotViewEvents = defineEvents('screenshotViews', {
  ScreenshotViewed: {
    version: 1,
    schema: z.object({
      screenshotId: uuid(),
      /** The picture itself, or an address that shows it for a while. */
      shown: z.enum(['picture', 'address']),
    }),
    about: { resource: 'screenshot', id: 'screenshotId' },
    audit: 'screenshot.viewed',
  },
});

/** Looking changes nothing that a decision depends on. */
export const screenshotViews = defineAggregate(screenshotViewEvents, {}, (state) => state);
/** A stream an administrator's session, so that many who look at one picture at once do not wait for each other. */
export const screenshotViewsStream = (tenantId: TenantId, sessionId: string): string =>
  streamName('screenshotViews', tenantId, sessionId);
