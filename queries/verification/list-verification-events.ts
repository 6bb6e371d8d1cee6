import { z } from 'zod';
import type { VerificationAttemptRow } from '../../projections/verification/verification-attempts.ts';
import { verificationMethods } from '../../src/contexts/verification/domain/events.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';

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

export const verificationEventOrder: KeysetOrder<VerificationAttemptRow> = {
  list: 'verification-events',
  columns: [descending('v.occurred_at', 'timestamptz'), ascending('v.verification_id', 'uuid')],
  valuesOf: ({ occurred_at, verification_id }) => [occurred_at, verification_id],
};

export const listVerificationEvents: Query<Page, { events: VerificationEventView[] } & KeysetPaginated> = async (
  reads,
  page,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: verificationEventOrder,
      count: COUNT,
      page: ({ where, tail }) => `select * from verification_attempts v where v.tenant_id = $1 ${where} ${tail}`,
    },
    [],
    page,
  );
  const events = rows.map((row) => ({
    id: row.verification_id,
    method: row.method,
    subjectUserId: row.user_id,
    verifierId: row.verifier_id,
    result: row.result,
    ipAddress: row.ip_address,
    occurredAt: row.occurred_at,
  }));
  return { events, ...pages };
};
