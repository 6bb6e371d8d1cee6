const DAYS = 7;

/** A temporary password that someone else has seen expires after this time. */
export const temporaryPasswordExpiry = (now: number): string => new Date(now + DAYS * 86_400_000).toISOString();
