import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** On the cookie's own stream: the cookie was used, although nobody should know it. */
export const canaryCookieTriggers = defineEvents('canaryCookie', {
  CanaryCookieTriggered: {
    version: 1,
    schema: z.object({
      id: uuid(),
      /** The observation that reported it; `occurredAt` is the browser's time. */
      cause: uuid(),
      occurredAt: z.iso.datetime(),
    }),
    audit: 'canary_cookie.triggered',
  },
});
