import { describe, expect, it } from 'vitest';
import { issueEnrollmentToken } from '../../../commands/enrollment/issue-enrollment-token.ts';
import { revokeEnrollmentToken, TOKEN_USED } from '../../../commands/enrollment/revoke-enrollment-token.ts';
import {
  identifyToken,
  isRedeemable,
  newEnrollmentToken,
  singleUse,
  tokenExpiry,
} from '../../../src/contexts/enrollment/domain/enrollment-token.ts';
import { isUuid } from '../../../src/platform/kernel/ids.ts';
import { given, NOW } from '../../dsl/given.ts';
import { DAY, inDays } from '../devices/histories.ts';

describe('revoking an enrollment token', () => {
  const tokenId = '77777777-7777-4777-8777-777777777777';
  const issued = {
    type: 'EnrollmentTokenIssued',
    data: { tokenId, tokenDigest: 'd'.repeat(64), expiresAt: inDays(9), userId: null, batchId: null },
  } as const;
  const revoked = { type: 'EnrollmentTokenRevoked', data: { tokenId } } as const;

  it('takes its single use, so that no device can', () => {
    const outcome = given(issued).when(revokeEnrollmentToken, { tokenId }, singleUse(tokenId));
    outcome.then(revoked);
    outcome.thenTakes(singleUse(tokenId));
  });
  it('has no effect the second time', () =>
    given(issued, revoked).when(revokeEnrollmentToken, { tokenId }, singleUse(tokenId)).thenNothing());
  it('fails for a token that was never issued', () =>
    given().when(revokeEnrollmentToken, { tokenId }, singleUse(tokenId)).thenRefused('notFound'));
  it('is refused once a device has used it', () => {
    expect(revokeEnrollmentToken.whenClaimed?.(singleUse(tokenId))).toBe(TOKEN_USED);
  });
});

describe('an enrollment token', () => {
  it('is 32 random octets, of which only a digest is recorded', () => {
    const token = newEnrollmentToken();
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const identity = identifyToken(token);
    const outcome = given().when(
      issueEnrollmentToken,
      { ...identity, expiresInDays: null, userId: null, batchId: null },
      { expiresAt: inDays(9) },
    );
    outcome.then({
      type: 'EnrollmentTokenIssued',
      data: { ...identity, expiresAt: inDays(9), userId: null, batchId: null },
    });
    expect(outcome.result()).toEqual({ expiresAt: inDays(9) });
  });

  it('has an id that is derived from the token', () => {
    const token = newEnrollmentToken();
    expect(identifyToken(token)).toEqual(identifyToken(token));
    expect(isUuid(identifyToken(token).tokenId)).toBe(true);
    expect(identifyToken(token).tokenId).not.toBe(identifyToken(newEnrollmentToken()).tokenId);
  });

  it('can be redeemed until it expires', () => {
    const { tokenDigest } = identifyToken('one');
    const state = { tokenDigest, expiresAt: inDays(1), userId: null, isRevoked: false };
    expect(isRedeemable(state, tokenDigest, NOW + DAY - 1)).toBe(true);
    expect(isRedeemable(state, tokenDigest, NOW + DAY)).toBe(false);
    expect(isRedeemable(state, identifyToken('two').tokenDigest, NOW)).toBe(false);
    expect(isRedeemable({ ...state, isRevoked: true }, tokenDigest, NOW)).toBe(false);
    expect(isRedeemable({ ...state, tokenDigest: undefined }, tokenDigest, NOW)).toBe(false);
  });

  it('is valid for 30 days unless its issuer sets another period, and never longer than the license', () => {
    expect(tokenExpiry(inDays(365), null, NOW)).toBe(inDays(30));
    expect(tokenExpiry(inDays(365), 90, NOW)).toBe(inDays(90));
    const license = inDays(10);
    expect(tokenExpiry(license, null, NOW)).toBe(license);
    expect(tokenExpiry(license, 3, NOW)).toBe(inDays(3));
    expect(tokenExpiry(license, 11, NOW)).toBe(license);
    expect(tokenExpiry(license, Number.MAX_SAFE_INTEGER, NOW)).toBe(license);
  });
});
