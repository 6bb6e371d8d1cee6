import { z } from 'zod';
import type { VerificationAlertRow } from '../../projections/verification/verification-alerts.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';

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
const ONE = 'select * from verification_alerts where tenant_id = $1 and alert_id = $2';

export const verificationAlertOrder: KeysetOrder<VerificationAlertRow> = {
  list: 'verification-alerts',
  columns: [descending('v.created_at', 'timestamptz'), ascending('v.alert_id', 'uuid')],
  valuesOf: ({ created_at, alert_id }) => [created_at, alert_id],
};

export const listVerificationAlerts: Query<Page, { alerts: VerificationAlertView[] } & KeysetPaginated> = async (
  reads,
  page,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: verificationAlertOrder,
      count: COUNT,
      page: ({ where, tail }) => `select * from verification_alerts v where v.tenant_id = $1 ${where} ${tail}`,
    },
    [],
    page,
  );
  return { alerts: rows.map(viewOf), ...pages };
};

export const getVerificationAlert: Query<{ alertId: string }, VerificationAlertView> = async (reads, { alertId }) => {
  const row = await reads.one<VerificationAlertRow>(ONE, [alertId]);
  return row ? viewOf(row) : notFound();
};
