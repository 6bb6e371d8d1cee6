import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { vouchedBySchema } from '../../sso/domain/vouching.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

const about = { resource: 'session', id: 'sessionId' } as const;

/**
 * One short stream for each session of a tenant's or an organization's admin. Only start and end are events; refreshes
 * are not.
 */
export const sessionEvents = defineEvents('session', {
  SessionStarted: {
    version: 2,
    schema: z.object({
      sessionId: uuid(),
      subjectId: uuid(),
      subjectKind: z.enum(['admin', 'org_admin']),
      /** The subject's session epoch when the session started. */
      epoch: z.int(),
      method: z.enum(['setup', 'password', 'password+totp', 'password+backup_code', 'oidc', 'saml', 'org_sso']),
      /** The session ends when that configuration no longer vouches for it; null if the holder used a password. */
      vouchedBy: vouchedBySchema.nullable(),
    }),
    upcasters: { 1: (data: object) => ({ vouchedBy: null, ...data }) },
    about,
    audit: 'session.started',
  },
  SessionEnded: {
    version: 1,
    schema: z.object({
      sessionId: uuid(),
      subjectId: uuid(),
      reason: z.enum(['logout', 'refresh_reuse', 'revoked', 'sso_logout']),
    }),
    about,
    audit: 'session.ended',
  },
});
export type SessionEvent = EventOf<typeof sessionEvents>;
