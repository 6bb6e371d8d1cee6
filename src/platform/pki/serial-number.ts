import { randomBytes } from 'node:crypto';

/** The maximum of RFC 5280 §4.1.2.2. */
export const SERIAL_LENGTH = 20;

/** Returns `size` random octets. */
export type RandomSource = (size: number) => Buffer;

/**
 * 158 random bits, big-endian. The first octet is 0x40 to 0x7f: positive as an INTEGER, and always of the same
 * length.
 */
export function freshSerialNumber(random: RandomSource = randomBytes): Buffer {
  const serial = random(SERIAL_LENGTH);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  return serial;
}

/** Upper-case hex, as openssl and Node print it. */
export const serialText = (serial: Buffer): string => serial.toString('hex').toUpperCase();
