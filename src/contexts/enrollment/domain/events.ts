import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/**
 * An enrollment token's own stream. Its use is recorded on the stream of the enrolled device (`EnrollmentTokenUsed`):
 * both happen in one append or not at all.
 */
export const enrollmentEvents = defineEvents('enrollmentToken', {
  EnrollmentTokenIssued: {
    version: 2,
    schema: z.object({
      /** The employee whose browser it enrolls; null: the user of the token becomes a placeholder. */
      userId: uuid().nullable(),
      /** Common id of tokens that were issued together; null: issued alone. */
      batchId: uuid().nullable(),
      tokenId: uuid(),
      /** SHA-256 of the token, lower-case hex. */
      tokenDigest: z.string(),
      expiresAt: z.iso.datetime(),
    }),
    upcasters: { 1: (data: object) => ({ userId: null, batchId: null, ...data }) },
    audit: 'enrollment_token.issued',
  },
  EnrollmentTokenRevoked: { version: 1, schema: z.object({ tokenId: uuid() }), audit: 'enrollment_token.revoked' },
});
export type EnrollmentEvent = EventOf<typeof enrollmentEvents>;
