import { device, deviceStream, latestSerial } from '../../src/contexts/devices/domain/device.ts';
import { isReturned } from '../../src/contexts/devices/domain/reenrollment.ts';
import {
  enrollmentToken,
  enrollmentTokenStream,
  repeatedUse,
  singleUse,
} from '../../src/contexts/enrollment/domain/enrollment-token.ts';
import { accept, defineCommand, type Claim } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithClaimHolder } from '../ports.ts';

interface RevokeEnrollmentToken {
  readonly tokenId: string;
}

/** A device used the token first: revoke the device instead. */
export const TOKEN_USED = conflict('enrollment_token_used');

/**
 * Revokes an unused token, or one that was returned. The revocation claims the token's single use: of a concurrent revocation and
 * enrollment, one append succeeds and the other is refused. Idempotent.
 */
export const revokeEnrollmentToken = defineCommand({
  name: 'RevokeEnrollmentToken',
  aggregate: enrollmentToken,
  stream: ({ tokenId }: RevokeEnrollmentToken, { tenantId }) => enrollmentTokenStream(tenantId, tokenId),
  async prepare(
    { tokenId },
    { aggregates, claimHolder }: WithAggregates & WithClaimHolder,
    { tenantId },
  ): Promise<Claim> {
    const usedBy = await claimHolder(tenantId, singleUse(tokenId));
    if (!usedBy?.startsWith(deviceStream(tenantId, ''))) return singleUse(tokenId);
    const state = await aggregates.load(device, usedBy);
    return isReturned(state, tokenId) ? repeatedUse(tokenId, latestSerial(state)) : singleUse(tokenId);
  },
  decide({ tokenDigest, isRevoked }, { tokenId }, _context, use: Claim) {
    if (tokenDigest === undefined) return notFound();
    if (isRevoked) return accept([]);
    return accept([{ type: 'EnrollmentTokenRevoked', data: { tokenId } }], { claim: [use] });
  },
  whenClaimed: () => TOKEN_USED,
  freshens: ['enrollment_tokens'],
});
