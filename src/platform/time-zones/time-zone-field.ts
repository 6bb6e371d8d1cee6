import { z } from 'zod';

const MAX_CHARACTERS = 64;

/** An IANA time zone that this runtime knows. */
export const timeZoneField = z.string().max(MAX_CHARACTERS).refine(isTimeZone, 'must be an IANA time zone');

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
