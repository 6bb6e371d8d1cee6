import { z } from 'zod';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** On the cookie's own stream: somebody used what nobody should know. */
export const canaryCookieTriggers = defineEvents('canaryCookie', {
  CanaryCookieTriggered: {
    version: 1,
    schema: z.object({
      id: uuid(),
      /** The observation that told of it, and when the browser saw it. */
      cause: uuid(),
      occurredAt: z.iso.datetime(),
    }),
    audit: 'canary_cookie.triggered',
  },
});
