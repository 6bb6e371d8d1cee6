import { z } from 'zod';
import type { VerificationAlertRow } from '../../projections/verification/verification-alerts.ts';
import { notFound } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';

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

const ALL = 'select * from verification_alerts where tenant_id = $1 order by created_at desc, alert_id';
const ONE = 'select * from verification_alerts where tenant_id = $1 and alert_id = $2';

export const listVerificationAlerts: Query<undefined, { alerts: VerificationAlertView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<VerificationAlertRow>(ALL);
  return { alerts: rows.map(viewOf), total: rows.length };
};

export const getVerificationAlert: Query<{ alertId: string }, VerificationAlertView> = async (reads, { alertId }) => {
  const row = await reads.one<VerificationAlertRow>(ONE, [alertId]);
  return row ? viewOf(row) : notFound();
};
