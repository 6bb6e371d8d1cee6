import { z } from 'zod';
import { defineEvents } from '../../kernel/event.ts';
import { uuid } from '../../kernel/ids.ts';

/**
 * Tries at one account's door, known account or not: the stream is named by the digest of what was typed, so that an
 * unknown e-mail locks, costs and answers like a known one.
 */
export const loginEvents = defineEvents('login', {
  /** Written before a password is looked at: what counts is the try, not how it ended. */
  LoginAttempted: {
    version: 1,
    schema: z.object({ at: z.iso.datetime(), subjectId: uuid().nullable(), locked: z.boolean() }),
    audit: 'login.attempted',
  },
  LoginSucceeded: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.succeeded' },
  LoginUnlocked: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.unlocked' },
});
