import { z } from 'zod';
import { defineEvents, type EventOf } from '../../kernel/event.ts';
import { uuid } from '../../kernel/ids.ts';

/**
 * An enrollment token's own stream. That it was used is written with the device that it enrolled (`EnrollmentTokenUsed`, on
 * the device's stream): the two happen in one append or not at all.
 */
export const enrollmentEvents = defineEvents('enrollmentToken', {
  EnrollmentTokenIssued: {
    version: 1,
    schema: z.object({
      tokenId: uuid(),
      /** SHA-256 of the token, lower-case hex. */
      tokenDigest: z.string(),
      expiresAt: z.iso.datetime(),
    }),
    audit: 'enrollment_token.issued',
  },
});
export type EnrollmentEvent = EventOf<typeof enrollmentEvents>;
