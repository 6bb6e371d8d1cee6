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

/** A device was faster: revoke that. */
export const TOKEN_USED = conflict('the token has been used');

/**
 * Ends a token that nobody has used. The revocation takes the token's single use, so of a revocation and an enrollment at
 * the same moment one append wins, and the other is refused. Twice is once.
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
