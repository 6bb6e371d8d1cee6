import { DerError, TAG } from './der-reader.ts';
import type { Element } from './der-reader.ts';

/** An object identifier as the hex of its content: compared octet by octet, so no arc is rounded. */
export const readObjectIdentifier = (element: Element): string => element.content.toString('hex');

export function readBoolean(element: Element): boolean {
  const value = element.content.length === 1 ? element.content[0] : undefined;
  if (value !== 0x00 && value !== 0xff) throw new DerError('boolean');
  return value === 0xff;
}

/**
 * A non-negative INTEGER as upper-case hex of whole octets without leading zero octets, as openssl and Node print
 * serial numbers.
 */
export function readUnsigned(element: Element): string {
  const [first, second] = element.content;
  if (first === undefined || first >= 0x80) throw new DerError('integer is empty or negative');
  if (first === 0 && second !== undefined && second < 0x80) throw new DerError('integer is not minimal');
  const digits = first === 0 && second !== undefined ? element.content.subarray(1) : element.content;
  return digits.toString('hex').toUpperCase();
}

/** A BIT STRING of whole octets: keys and signatures. */
export function readOctetsOfBits(element: Element): Buffer {
  if (element.content.length < 2 || element.content[0] !== 0) throw new DerError('bit string');
  return element.content.subarray(1);
}

/** A BIT STRING of named flags; bit 0 is the first octet's high bit. */
export function readFlags(element: Element): (bit: number) => boolean {
  const unused = element.content[0];
  if (unused === undefined || unused > 7 || (unused > 0 && element.content.length < 2))
    throw new DerError('bit string');
  const flags = element.content.subarray(1);
  return (bit) => ((flags[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
}

/** Text of a UTF8String or PrintableString. Invalid UTF-8 is refused, not replaced. */
export function readText(element: Element): string {
  if (element.tag !== TAG.utf8String && element.tag !== TAG.printableString) throw new DerError('string type');
  const text = element.content.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(element.content)) throw new DerError('string is not UTF-8');
  return text;
}

const TIMES = {
  [TAG.utcTime]: /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/,
  [TAG.generalizedTime]: /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/,
};

/** Epoch milliseconds of either Time form (RFC 5280 §4.1.2.5): in UTC, whole seconds, an existing date. */
export function readTime(element: Element): number {
  const { tag, content } = element;
  const parts = tag === TAG.utcTime || tag === TAG.generalizedTime ? TIMES[tag].exec(content.toString('latin1')) : null;
  if (!parts) throw new DerError('time');
  const [written, month, day, hour, minute, second] = parts.slice(1).map(Number) as SixNumbers;
  const year = tag === TAG.utcTime ? yearOfTwoDigits(written) : written;
  const epochMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const exists = `${month}-${day} ${hour}:${minute}:${second}` === dateAndTimeOf(new Date(epochMs));
  if (!exists || year < 1000) throw new DerError('time');
  return epochMs;
}

type SixNumbers = [number, number, number, number, number, number];

const yearOfTwoDigits = (written: number): number => written + (written >= 50 ? 1900 : 2000);

/** Date.UTC moves an invalid day or hour to a later date, which then prints differently. */
const dateAndTimeOf = (date: Date): string =>
  `${date.getUTCMonth() + 1}-${date.getUTCDate()} ${date.getUTCHours()}:${date.getUTCMinutes()}:${date.getUTCSeconds()}`;
