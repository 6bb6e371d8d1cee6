const DAYS = 7;

/** A password that somebody else has seen does not wait for its owner for ever. */
export const temporaryPasswordExpiry = (now: number): string => new Date(now + DAYS * 86_400_000).toISOString();
