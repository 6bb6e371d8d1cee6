import { encode, sequence, time } from './der.ts';
import type { Node } from './der.ts';
import { readDer } from './der-reader.ts';
import type { Element } from './der-reader.ts';

/** Epoch milliseconds on whole seconds; the validity includes both ends. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** How much a peer's clock may be behind: certificates begin this long before they are issued. */
export const CLOCK_SKEW_MS = 5 * 60_000;

export const wholeSecond = (epochMs: number): number => Math.floor(epochMs / 1000) * 1000;

/** Begins `CLOCK_SKEW_MS` before `issuedAt`. Throws RangeError if it would end before it is issued. */
export function validityFrom(issuedAt: number, notAfter: number): Validity {
  if (!(notAfter > issuedAt)) throw new RangeError('a certificate must end after it is issued');
  return { notBefore: wholeSecond(issuedAt - CLOCK_SKEW_MS), notAfter: wholeSecond(notAfter) };
}

export const validityNode = ({ notBefore, notAfter }: Validity): Node => sequence(time(notBefore), time(notAfter));

export const timeElement = (epochMs: number): Element => readDer(encode(time(epochMs)));

export const isCurrent = ({ notBefore, notAfter }: Validity, now: number): boolean =>
  now >= notBefore && now <= notAfter;
