import { z } from 'zod';
import { defineEvents, type EventOf } from '../../kernel/event.ts';
import { uuid } from '../../kernel/ids.ts';

/**
 * Tries at one account's door, known account or not: the stream is named by the digest of what was typed, so that an
 * unknown e-mail locks, costs and answers like a known one.
 */
export const loginEvents = defineEvents('login', {
  /** Written before a password or a code is looked at: what counts is the try, not how it ended. */
  LoginAttempted: {
    version: 1,
    schema: z.object({ at: z.iso.datetime(), subjectId: uuid().nullable(), locked: z.boolean() }),
    audit: 'login.attempted',
  },
  /**
   * The right password, where that is not yet the whole way in (a second factor follows), or not a way in at all
   * (re-authentication; a suspended account, or one that has to come through its provider): this try is given back, and wrong
   * ones before it still count.
   */
  PasswordConfirmed: {
    version: 2,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid(),
      purpose: z.enum(['second_factor_follows', 're_authentication', 'not_admitted']),
      /** The tries that count from here on. */
      tries: z.array(z.iso.datetime()),
    }),
    upcasters: { 1: (data: object) => data },
    audit: 'login.password_confirmed',
  },
  LoginSucceeded: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.succeeded' },
  LoginUnlocked: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.unlocked' },
});
export type PasswordConfirmed = Extract<EventOf<typeof loginEvents>, { type: 'PasswordConfirmed' }>['data'];
