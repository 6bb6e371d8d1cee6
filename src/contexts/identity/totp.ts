import { randomBytes } from 'node:crypto';
import { generateURI, ScureBase32Plugin, verify } from 'otplib';
import QRCode from 'qrcode';
import { z } from 'zod';

/** RFC 6238 with the values that every authenticator app supports: SHA-1, 6 digits, 30 seconds (OP-039). */
const STEP_SECONDS = 30;
const ISSUER = 'Castellan';

/** Six digits; apps may show them in two groups. */
export const totpCodeField = z
  .string()
  .max(16)
  .transform((text) => text.replaceAll(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must have 6 digits'));

/** 160 random bits in base 32 (RFC 4226 §4, R6). */
export const newTotpSecret = (octetsOf: (size: number) => Buffer = randomBytes): string =>
  new ScureBase32Plugin().encode(octetsOf(20));

export const otpauthUrl = (secret: string, account: string): string =>
  generateURI({ issuer: ISSUER, label: account, secret });

/** The address as a QR code, `data:image/png;base64,…`. */
export const qrCode = (url: string): Promise<string> => QRCode.toDataURL(url, { errorCorrectionLevel: 'M', margin: 2 });

/**
 * The time step of a right code: the current one, the previous or the next (RFC 6238 §5.2). Undefined for a wrong code.
 * Does not check whether the step was used before.
 */
export async function stepOfCode(secret: string, code: string, now: number): Promise<number | undefined> {
  const result = await verify({ secret, token: code, epoch: Math.floor(now / 1000), epochTolerance: STEP_SECONDS });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
