import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** One stream per person and password. */
export const credentialReuseEvents = defineEvents('credentialReuse', {
  /** A password known from other sites was entered on one more site. */
  PasswordReuseDetected: {
    version: 1,
    schema: z.object({
      reuseId: uuid(),
      userId: uuid(),
      deviceId: uuid(),
      /** The new site as a registrable domain; `domains` lists all sites so far. */
      domain: z.string(),
      domains: z.array(z.string()),
      /** The observation that showed it. */
      cause: uuid(),
      occurredAt: z.iso.datetime(),
      extensionMode: z.string().nullable(),
      policyVersion: z.string().nullable(),
    }),
    personal: { subject: 'userId', fields: ['domain', 'domains'] },
    audit: 'password_reuse.detected',
  },
});
export type CredentialReuseEvent = EventOf<typeof credentialReuseEvents>;
