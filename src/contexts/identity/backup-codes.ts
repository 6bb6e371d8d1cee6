import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { HashingReservation } from './hashing-limiter.ts';
import type { Passwords } from './passwords.ts';

export const BACKUP_CODES = 10;
/** Without look-alikes, because codes are written down and typed. 32 letters, so 10 of them are 50 random bits. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** `XXXXX-XXXXX`; case and the dash do not matter in input. */
export const backupCodeField = z
  .string()
  .max(32)
  .transform((text) => text.toUpperCase().replaceAll(/[\s-]/g, ''))
  .pipe(z.string().regex(/^[A-Z0-9]{10}$/, 'must look like XXXXX-XXXXX'));

/** The stored form of a set of codes: Argon2id digests under one salt, so that one attempt costs one computation. */
const keptSchema = z.object({ salt: z.string(), digests: z.array(z.string()) });

const dashed = (code: string) => `${code.slice(0, 5)}-${code.slice(5)}`;
const letters = (pickInteger: (below: number) => number) =>
  Array.from({ length: 10 }, () => ALPHABET[pickInteger(ALPHABET.length)]!).join('');

export interface NewBackupCodes {
  readonly codes: readonly string[];
  /** The stored form, for the vault. */
  readonly kept: string;
}

/** Ten codes to be shown once, and their stored form. */
export async function newBackupCodes(
  passwords: Passwords,
  pickInteger: (below: number) => number = randomInt,
): Promise<NewBackupCodes> {
  const salt = randomBytes(16);
  const codes = Array.from({ length: BACKUP_CODES }, () => letters(pickInteger));
  const digests = await Promise.all(codes.map(async (code) => (await passwords.digest(code, salt)).toString('base64')));
  return { codes: codes.map(dashed), kept: JSON.stringify({ salt: salt.toString('base64'), digests }) };
}

/**
 * The index of a code in its set; undefined if it is not in the set. Does not check whether the code was used before.
 */
export async function indexOfCode(
  kept: string,
  code: string,
  passwords: Passwords,
  reservation?: HashingReservation,
): Promise<number | undefined> {
  const { salt, digests } = keptSchema.parse(JSON.parse(kept));
  const presented = await passwords.digest(code, Buffer.from(salt, 'base64'), reservation);
  // Compares with every digest, so that timing does not reveal which one matched.
  const matches = digests.map((digest) => timingSafeEqual(Buffer.from(digest, 'base64'), presented));
  const place = matches.indexOf(true);
  return place < 0 ? undefined : place;
}
