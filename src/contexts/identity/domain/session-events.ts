import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { vouchedBySchema } from '../../sso/domain/vouching.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

const about = { resource: 'session', id: 'sessionId' } as const;

/** One short stream a session, of a tenant's admin or of an organization's. Refreshes are not history: only its ends are. */
export const sessionEvents = defineEvents('session', {
  SessionStarted: {
    version: 2,
    schema: z.object({
      sessionId: uuid(),
      subjectId: uuid(),
      subjectKind: z.enum(['admin', 'org_admin']),
      /** The subject's session epoch at that moment. */
      epoch: z.int(),
      method: z.enum(['setup', 'password', 'password+totp', 'password+backup_code', 'oidc', 'saml', 'org_sso']),
      /** The session lives no longer than that configuration vouches for it; null where the holder showed a password. */
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
