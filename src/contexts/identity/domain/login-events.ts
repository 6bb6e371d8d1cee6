import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { LEGACY_SOURCE, LOCK_MS, MAX_ATTEMPTS } from './login-limits.ts';

/** What still counts of one counter (`limits.ts`). */
const counterSchema = z.object({
  name: z.string(),
  tries: z.array(z.iso.datetime()),
  lockedUntil: z.iso.datetime().nullable(),
  checksWhileLocked: z.int(),
});
export type RecordedCounter = z.output<typeof counterSchema>;

/** Before version 3 there was one counter for everybody, and its lock followed from its tries. */
const standingBefore = (tries: readonly string[]): RecordedCounter[] => {
  const lockedUntil = tries.length >= MAX_ATTEMPTS ? new Date(Date.parse(tries.at(-1)!) + LOCK_MS).toISOString() : null;
  return tries.length === 0 ? [] : [{ name: LEGACY_SOURCE, tries: [...tries], lockedUntil, checksWhileLocked: 0 }];
};

/**
 * Tries at one account's door, known account or not: the stream is named by the digest of what was typed, so that an
 * unknown e-mail locks, costs and answers like a known one.
 */
export const loginEvents = defineEvents('login', {
  /** Written before a password or a code is looked at: what counts is the try, not how it ended. */
  LoginAttempted: {
    version: 2,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid().nullable(),
      locked: z.boolean(),
      /** The counters that this try adds to, its source's own first. */
      countedBy: z.array(z.string()).min(1),
    }),
    upcasters: { 1: (data: object) => ({ ...data, countedBy: [LEGACY_SOURCE] }) },
    audit: 'login.attempted',
  },
  /**
   * The right password, where that is not yet the whole way in (a second factor follows), or not a way in at all
   * (re-authentication; a suspended account, or one that has to come through its provider): this try is given back, and wrong
   * ones before it still count.
   */
  PasswordConfirmed: {
    version: 3,
    schema: z.object({
      at: z.iso.datetime(),
      subjectId: uuid(),
      purpose: z.enum(['second_factor_follows', 're_authentication', 'not_admitted']),
      /** Every counter that is not empty from here on. */
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
      /** Where the sign-in came from. */
      source: z.string(),
      /** Every counter that is not empty from here on: tries of other sources still count. */
      standing: z.array(counterSchema),
    }),
    upcasters: { 1: (data: object) => ({ ...data, source: LEGACY_SOURCE, standing: [] }) },
    audit: 'login.succeeded',
  },
  LoginUnlocked: { version: 1, schema: z.object({ at: z.iso.datetime(), subjectId: uuid() }), audit: 'login.unlocked' },
});
export type PasswordConfirmed = Extract<EventOf<typeof loginEvents>, { type: 'PasswordConfirmed' }>['data'];
