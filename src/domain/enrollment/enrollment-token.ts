import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { Claim } from '../../kernel/command.ts';
import { uuidOf, type TenantId } from '../../kernel/ids.ts';
import { enrollmentEvents } from './events.ts';

export interface EnrollmentTokenState {
  readonly tokenDigest: string | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export const enrollmentToken = defineAggregate<EnrollmentTokenState, typeof enrollmentEvents>(
  enrollmentEvents,
  { tokenDigest: undefined, expiresAt: '' },
  (_state, { data: { tokenDigest, expiresAt } }) => ({ tokenDigest, expiresAt }),
);

export const enrollmentTokenStream = (tenantId: TenantId, tokenId: string): string => streamName('enrollmentToken', tenantId, tokenId);

/** 32 random octets, base64url (choice OP-168): shown once, kept nowhere. */
export const newEnrollmentToken = (octetsOf: (size: number) => Buffer = randomBytes): string => octetsOf(32).toString('base64url');

export interface TokenIdentity {
  /** Names the token's stream, so that redeeming needs no look-up. */
  readonly tokenId: string;
  readonly tokenDigest: string;
}

export function identifyToken(token: string): TokenIdentity {
  const digest = createHash('sha256').update(token).digest();
  return { tokenId: uuidOf(digest), tokenDigest: digest.toString('hex') };
}

/** Held for ever by the device that the token enrolled: of any number of simultaneous uses, one append takes it. */
export const singleUse = (tokenId: string): Claim => ({ kind: 'enrollment-token', value: tokenId });

/** Whether this is the token that was issued, and still in time. `tokenDigest`: of what was presented. */
export function isRedeemable(state: EnrollmentTokenState, tokenDigest: string, now: number): boolean {
  if (state.tokenDigest === undefined || now >= Date.parse(state.expiresAt)) return false;
  return timingSafeEqual(Buffer.from(state.tokenDigest, 'hex'), Buffer.from(tokenDigest, 'hex'));
}

const DAY_MS = 86_400_000;

/** A token lives as long as the license, or shorter where asked (interface, "Enrollment token"). All ISO 8601. */
export function tokenExpiry(licenseExpiresAt: string, expiresInDays: number | null, now: number): string {
  const license = Date.parse(licenseExpiresAt);
  return new Date(expiresInDays === null ? license : Math.min(license, now + expiresInDays * DAY_MS)).toISOString();
}
