import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import { uuidOf, type TenantId } from '../../../platform/kernel/ids.ts';
import { enrollmentEvents } from './events.ts';

export interface EnrollmentTokenState {
  readonly tokenDigest: string | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
  /** The employee whose browser it enrolls; null: it enrolls a placeholder. */
  readonly userId: string | null;
  readonly isRevoked: boolean;
}

const initial: EnrollmentTokenState = { tokenDigest: undefined, expiresAt: '', userId: null, isRevoked: false };

export const enrollmentToken = defineAggregate<EnrollmentTokenState, typeof enrollmentEvents>(
  enrollmentEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'EnrollmentTokenIssued': {
        const { tokenDigest, expiresAt, userId } = event.data;
        return { ...initial, tokenDigest, expiresAt, userId };
      }
      case 'EnrollmentTokenRevoked':
        return { ...state, isRevoked: true };
    }
  },
);

export const enrollmentTokenStream = (tenantId: TenantId, tokenId: string): string =>
  streamName('enrollmentToken', tenantId, tokenId);

/** 32 random octets, base64url (choice OP-168): shown once, never stored. */
export const newEnrollmentToken = (octetsOf: (size: number) => Buffer = randomBytes): string =>
  octetsOf(32).toString('base64url');

export interface TokenIdentity {
  /** Identifies the token's stream, so that redeeming needs no lookup. */
  readonly tokenId: string;
  readonly tokenDigest: string;
}

export function identifyToken(token: string): TokenIdentity {
  const digest = createHash('sha256').update(token).digest();
  return { tokenId: uuidOf(digest), tokenDigest: digest.toString('hex') };
}

/**
 * Held permanently by the device that the token enrolled, or by the token itself once revoked. Of concurrent uses and
 * revocations exactly one append gets the claim.
 */
export const singleUse = (tokenId: string): Claim => ({ kind: 'enrollment-token', value: tokenId });

/**
 * The same for a token that was returned to its device (decision 0208), which has this certificate that nobody holds: held by the
 * repetition of the enrollment, or by the token once revoked.
 */
export const repeatedUse = (tokenId: string, lostSerial: string | null): Claim => ({
  kind: 'enrollment-token',
  value: `${tokenId}|${lostSerial ?? ''}`,
});

/**
 * Whether this is the issued token, not revoked and not expired. `tokenDigest` is the digest of the presented token.
 */
export function isRedeemable(state: EnrollmentTokenState, tokenDigest: string, now: number): boolean {
  if (state.tokenDigest === undefined || state.isRevoked || now >= Date.parse(state.expiresAt)) return false;
  return timingSafeEqual(Buffer.from(state.tokenDigest, 'hex'), Buffer.from(tokenDigest, 'hex'));
}

const DAY_MS = 86_400_000;

/** Default token lifetime in days (docs/decisions/0024-enrollment-tokens-are-short-lived.md). */
export const DEFAULT_TOKEN_DAYS = 30;

/** A token that lives longer than the default of 30 days is good for an attacker who comes back (decision 0151). */
export const LONG_LIVED_DAYS = 31;
/** So many long-lived tokens of one request need a fresh proof (decision 0162). */
export const MANY_LONG_LIVED = 100;

export const isLongLived = (expiresAt: string, issuedAt: number): boolean =>
  Date.parse(expiresAt) - issuedAt > LONG_LIVED_DAYS * DAY_MS;

/** A token expires after the requested days, but never after the license. All times ISO 8601. */
export function tokenExpiry(licenseExpiresAt: string, expiresInDays: number | null, now: number): string {
  const asked = now + (expiresInDays ?? DEFAULT_TOKEN_DAYS) * DAY_MS;
  return new Date(Math.min(Date.parse(licenseExpiresAt), asked)).toISOString();
}
