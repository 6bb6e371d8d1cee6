import { z } from 'zod';
import { invalid, type Failure } from '../../../platform/kernel/failure.ts';
import { commonPasswordReason, guessablePasswordReason } from './guessable-password.ts';
import { ruleBetween } from '../../../platform/kernel/rule-between.ts';

const LEAST_CHARACTERS = 12;
/** Far beyond any passphrase. The time to check a password grows with the square of its length. */
const MAX_CHARACTERS = 256;
/** A password of a wrong length is not checked any further. */
const conclusive = { abort: true };

/**
 * At least 12 characters with upper case, lower case, digit and special character (interface, "Setup"), and not a
 * common password. Argon2 uses the whole password. Commands also check it against the person's own names
 * (`refuseGuessable`).
 */
export const newPassword = z
  .string()
  .min(LEAST_CHARACTERS, conclusive)
  .max(MAX_CHARACTERS, conclusive)
  .refine((text) => /\p{Lu}/u.test(text), 'must contain an upper-case letter')
  .refine((text) => /\p{Ll}/u.test(text), 'must contain a lower-case letter')
  .refine((text) => /\p{Nd}/u.test(text), 'must contain a digit')
  .refine((text) => /[^\p{L}\p{N}\s]/u.test(text), 'must contain a special character')
  .superRefine((text, { addIssue }) => {
    const reason = commonPasswordReason(text);
    if (reason) addIssue({ code: 'custom', message: reason });
  })
  .describe(
    '12 to 256 characters, with upper-case and lower-case letters, a digit and a special character. Refused: common passwords, even with digits, signs or look-alikes, and those based on the name, e-mail or tenant.',
  );

interface RepeatedPassword {
  readonly newPassword: unknown;
  readonly confirmPassword?: string | undefined;
}

/** For `.check(…)` of a body: the repetition, where it is given, is the same. Also that of a weak password. */
export const repeatedPassword = ruleBetween<RepeatedPassword>(
  ['confirmPassword'],
  ({ newPassword: chosen, confirmPassword = chosen }) =>
    typeof chosen !== 'string' || confirmPassword === chosen ? undefined : 'must equal newPassword',
);

/** For passwords that people choose; generated ones are random. */
export function refuseGuessable(field: string, password: string, known: readonly string[]): Failure | undefined {
  const reason = guessablePasswordReason(password, known);
  return reason === undefined ? undefined : invalid(field, reason);
}

/** The input of a login form: the field's minimum of 6, and an upper limit. */
export const presentedPassword = z.string().min(6).max(MAX_CHARACTERS);

const MAX_EMAIL = 254;
/**
 * A dot-atom and a host name of at least two labels (RFC 5321 §4.1.2). No character ends a header or a command. The length
 * comes first: it bounds what the expression looks at.
 */
const EMAIL =
  /^(?=.{1,254}$)(?!\.)(?!.*\.\.)[\w.!#$%&'*+/=?^`{|}~-]+(?<!\.)@(?:[A-Za-z\d][A-Za-z\d-]*(?<!-)\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z\d-]+)$/;
/** ASCII alone: a look-alike could be folded to another person's address, and signs in as them. */
export const emailField = z.email({ pattern: EMAIL }).max(MAX_EMAIL);
