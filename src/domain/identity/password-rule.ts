import { z } from 'zod';

/** At least 12 characters with upper case, lower case, digit and special character (interface, "Setup"). Argon2 reads all of it. */
export const newPassword = z
  .string()
  .min(12)
  .max(256)
  .refine((text) => /\p{Lu}/u.test(text), 'must contain an upper-case letter')
  .refine((text) => /\p{Ll}/u.test(text), 'must contain a lower-case letter')
  .refine((text) => /\p{Nd}/u.test(text), 'must contain a digit')
  .refine((text) => /[^\p{L}\p{N}\s]/u.test(text), 'must contain a special character');

/** What a login form may send: the field's minimum of 6, and a bound. */
export const presentedPassword = z.string().min(6).max(256);
export const emailField = z.email().max(254);
