import { z } from 'zod';
import { invalid, type Failure } from '../../kernel/failure.ts';
import { whyCommon, whyGuessable } from './guessable-password.ts';

const LEAST_CHARACTERS = 12;

/**
 * At least 12 characters with upper case, lower case, digit and special character (interface, "Setup"), and none of the passwords that are
 * tried first. Argon2 reads all of it. Commands check against the person's own names besides (`refuseGuessable`).
 */
export const newPassword = z
  .string()
  .min(LEAST_CHARACTERS)
  .max(256)
  .refine((text) => /\p{Lu}/u.test(text), 'must contain an upper-case letter')
  .refine((text) => /\p{Ll}/u.test(text), 'must contain a lower-case letter')
  .refine((text) => /\p{Nd}/u.test(text), 'must contain a digit')
  .refine((text) => /[^\p{L}\p{N}\s]/u.test(text), 'must contain a special character')
  .superRefine((text, { addIssue }) => {
    const reason = text.length < LEAST_CHARACTERS ? undefined : whyCommon(text);
    if (reason) addIssue({ code: 'custom', message: reason });
  })
  .describe(
    'At least 12 characters, with upper-case and lower-case letters, a digit and a special character. Refused: common passwords, also with digits, signs or look-alikes, and those made of the name, e-mail or tenant.',
  );

/** For passwords that people choose. Those that are made here are random. */
export function refuseGuessable(field: string, password: string, known: readonly string[]): Failure | undefined {
  const reason = whyGuessable(password, known);
  return reason === undefined ? undefined : invalid(field, reason);
}

/** What a login form may send: the field's minimum of 6, and a bound. */
export const presentedPassword = z.string().min(6).max(256);
export const emailField = z.email().max(254);
