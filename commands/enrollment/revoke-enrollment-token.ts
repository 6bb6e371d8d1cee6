import {
  enrollmentToken,
  enrollmentTokenStream,
  singleUse,
} from '../../src/contexts/enrollment/domain/enrollment-token.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeEnrollmentToken {
  readonly tokenId: string;
}

/** A device used the token first: revoke the device instead. */
export const TOKEN_USED = conflict('enrollment_token_used');

/**
 * Revokes an unused token. The revocation claims the token's single use: of a concurrent revocation and enrollment, one
 * append succeeds and the other is refused. Idempotent.
 */
export const revokeEnrollmentToken = defineCommand({
  name: 'RevokeEnrollmentToken',
  aggregate: enrollmentToken,
  stream: ({ tokenId }: RevokeEnrollmentToken, { tenantId }) => enrollmentTokenStream(tenantId, tokenId),
  decide({ tokenDigest, isRevoked }, { tokenId }) {
    if (tokenDigest === undefined) return notFound();
    if (isRevoked) return accept([]);
    return accept([{ type: 'EnrollmentTokenRevoked', data: { tokenId } }], { claim: [singleUse(tokenId)] });
  },
  whenClaimed: () => TOKEN_USED,
  freshens: ['enrollment_tokens'],
});
