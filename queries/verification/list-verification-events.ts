import { z } from 'zod';
import type { VerificationAttemptRow } from '../../projections/verification/verification-attempts.ts';
import { verificationMethods } from '../../src/contexts/verification/domain/events.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';

/** A verification as the interface shows it (choice OP-237). */
export const verificationEventView = z
  .object({
    id: z.uuid(),
    method: z.enum(verificationMethods),
    subjectUserId: z.uuid(),
    verifierId: z.uuid().nullable(),
    result: z.enum(['success', 'failure']),
    ipAddress: z.string().nullable(),
    occurredAt: z.iso.datetime(),
  })
  .meta({ title: 'VerificationEvent' });
type VerificationEventView = z.output<typeof verificationEventView>;

const COUNT = 'select count(*)::int as total from verification_attempts where tenant_id = $1';
const PAGE =
  'select * from verification_attempts where tenant_id = $1 order by occurred_at desc, verification_id limit $2 offset $3';

export const listVerificationEvents: Query<Page, { events: VerificationEventView[] } & Paginated> = async (
  reads,
  page,
) => {
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT),
    reads.rows<VerificationAttemptRow>(PAGE, [page.pageSize, (page.page - 1) * page.pageSize]),
  ]);
  const events = rows.map((row) => ({
    id: row.verification_id,
    method: row.method,
    subjectUserId: row.user_id,
    verifierId: row.verifier_id,
    result: row.result,
    ipAddress: row.ip_address,
    occurredAt: row.occurred_at,
  }));
  return { events, ...paginated(count?.total ?? 0, page) };
};
