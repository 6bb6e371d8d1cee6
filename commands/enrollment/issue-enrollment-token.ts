import { employee, employeeStream, isEmployed } from '../../src/contexts/employees/domain/employee.ts';
import {
  enrollmentToken,
  enrollmentTokenStream,
  isLongLived,
  MANY_LONG_LIVED,
  tokenExpiry,
} from '../../src/contexts/enrollment/domain/enrollment-token.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, forbidden, invalid } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates } from '../ports.ts';

interface IssueEnrollmentToken {
  /** Both come from `identifyToken`; the token itself goes only to the caller. */
  readonly tokenId: string;
  readonly tokenDigest: string;
  /** At least 1; null: the default. */
  readonly expiresInDays: number | null;
  /** The employee whose browser it enrolls; null: it enrolls a placeholder. */
  readonly userId: string | null;
  /** Common id of tokens that are issued together. */
  readonly batchId: string | null;
  /** How many tokens the request issues. */
  readonly batchSize?: number;
  /** Required if an employee is named, because the token assigns a browser to that employee; and for many long-lived ones. */
  readonly reauthenticated?: boolean;
}

/**
 * Issues a token that enrolls one device; it expires with the license at the latest (choice OP-167). Returns `{
 * expiresAt }`.
 */
export const issueEnrollmentToken = defineCommand({
  name: 'IssueEnrollmentToken',
  aggregate: enrollmentToken,
  stream: ({ tokenId }: IssueEnrollmentToken, { tenantId }) => enrollmentTokenStream(tenantId, tokenId),
  async prepare(
    { expiresInDays, userId, batchSize = 1, reauthenticated }: IssueEnrollmentToken,
    { aggregates }: WithAggregates,
    { tenantId, actor, now },
  ) {
    const unproved = userId === null ? undefined : refuseUnlessReauthenticated(actor, reauthenticated);
    if (unproved) return unproved;
    const { license } = await aggregates.load(tenant, tenantStream(tenantId));
    if (!license || Date.parse(license.expiresAt) <= now) return forbidden('license_expired');
    if (userId !== null && !isEmployed(await aggregates.load(employee, employeeStream(tenantId, userId))))
      return invalid('userId', 'is not the id of an active employee');
    const expiresAt = tokenExpiry(license.expiresAt, expiresInDays, now);
    const areManyLasting = batchSize >= MANY_LONG_LIVED && isLongLived(expiresAt, now);
    return (areManyLasting ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined) ?? { expiresAt };
  },
  decide(state, { tokenId, tokenDigest, userId, batchId }, _context, { expiresAt }: { expiresAt: string }) {
    if (state.tokenDigest !== undefined) return conflict();
    return acceptWith({ expiresAt }, [
      { type: 'EnrollmentTokenIssued', data: { tokenId, tokenDigest, expiresAt, userId, batchId } },
    ]);
  },
  recall: (_before, [issued]) => ({
    expiresAt: (issued as Extract<typeof issued, { type: 'EnrollmentTokenIssued' }>).data.expiresAt,
  }),
  freshens: ['enrollment_tokens'],
});
