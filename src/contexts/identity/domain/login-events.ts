import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { LEGACY_SOURCE, LOCK_MS, MAX_ATTEMPTS } from './login-limits.ts';

/** The remaining state of one counter (`login-limits.ts`). */
const counterSchema = z.object({
  name: z.string(),
  tries: z.array(z.iso.datetime()),
  lockedUntil: z.iso.datetime().nullable(),
  checksWhileLocked: z.int(),
});
export type RecordedCounter = z.output<typeof counterSchema>;

/** Before version 3 there was one counter for all sources, and its lock followed from its tries. */
const standingBefore = (tries: readonly string[]): RecordedCounter[] => {
  const lockedUntil = tries.length >= MAX_ATTEMPTS ? new Date(Date.parse(tries.at(-1)!) + LOCK_MS).toISOString() : null;
  return tries.length === 0 ? [] : [{ name: LEGACY_SOURCE, tries: [...tries], lockedUntil, checksWhileLocked: 0 }];
};

/**
 * Sign-in attempts for one account, known or not. The stream is named by the digest of the e-mail that was typed. So an
 * unknown e-mail locks, costs and responds like a known one.
 */
export const loginEvents = defineEvents('login', {
  /** Written before the password or code is checked: the attempt counts, not its outcome. */
  LoginAttempted: {
    version: 2,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid().nullable(),
      locked: z.boolean(),
      /** The counters that this attempt increases, its source's own first. */
      countedBy: z.array(z.string()).min(1),
    }),
    upcasters: { 1: (data: object) => ({ ...data, countedBy: [LEGACY_SOURCE] }) },
    audit: 'login.attempted',
  },
  /**
   * The password was right, but did not complete a sign-in: a second factor follows, or it was a re-authentication, or
   * the account is suspended or has to use its provider. This attempt is refunded; earlier wrong ones still count.
   */
  PasswordConfirmed: {
    version: 3,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid(),
      purpose: z.enum(['second_factor_follows', 're_authentication', 'not_admitted']),
      /** Every counter that is not empty after this event. */
      standing: z.array(counterSchema),
    }),
    upcasters: {
      1: (data: object) => data,
      2: (data: object) => {
        const { tries, ...kept } = data as { tries: string[] };
        return { ...kept, standing: standingBefore(tries) };
      },
    },
    audit: 'login.password_confirmed',
  },
  LoginSucceeded: {
    version: 2,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid(),
      /** The source of the sign-in. */
      source: z.string(),
      /** Every counter that is not empty after this event: attempts from other sources still count. */
      standing: z.array(counterSchema),
    }),
    upcasters: { 1: (data: object) => ({ ...data, source: LEGACY_SOURCE, standing: [] }) },
    audit: 'login.succeeded',
  },
  LoginUnlocked: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.unlocked' },
});
export type PasswordConfirmed = Extract<EventOf<typeof loginEvents>, { type: 'PasswordConfirmed' }>['data'];
