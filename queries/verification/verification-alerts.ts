import { z } from 'zod';
import type { VerificationAlertRow } from '../../projections/verification/verification-alerts.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';

/** A verification alert as the interface shows it (choice OP-237). */
export const verificationAlertView = z
  .object({
    id: z.uuid(),
    type: z.literal('repeated_failures'),
    userId: z.uuid(),
    message: z.string(),
    isRead: z.boolean(),
    readAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
  })
  .meta({ title: 'VerificationAlert' });
type VerificationAlertView = z.output<typeof verificationAlertView>;

const viewOf = (row: VerificationAlertRow): VerificationAlertView => ({
  id: row.alert_id,
  type: row.alert_type,
  userId: row.user_id,
  message: `${row.failures} failed verifications within 15 minutes`,
  isRead: row.read_at !== null,
  readAt: row.read_at,
  createdAt: row.created_at,
});

const COUNT = 'select count(*)::int as total from verification_alerts where tenant_id = $1';
const PAGE =
  'select * from verification_alerts where tenant_id = $1 order by created_at desc, alert_id limit $2 offset $3';
const ONE = 'select * from verification_alerts where tenant_id = $1 and alert_id = $2';

export const listVerificationAlerts: Query<Page, { alerts: VerificationAlertView[] } & Paginated> = async (
  reads,
  page,
) => {
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT),
    reads.rows<VerificationAlertRow>(PAGE, [page.pageSize, (page.page - 1) * page.pageSize]),
  ]);
  return { alerts: rows.map(viewOf), ...paginated(count?.total ?? 0, page) };
};

export const getVerificationAlert: Query<{ alertId: string }, VerificationAlertView> = async (reads, { alertId }) => {
  const row = await reads.one<VerificationAlertRow>(ONE, [alertId]);
  return row ? viewOf(row) : notFound();
};
