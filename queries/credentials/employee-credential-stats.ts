import { z } from 'zod';
import type { CredentialStatsRow } from '../../projections/telemetry/credential-stats.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { employeeExists } from './employee-credentials.ts';

/** Choice OP-065. */
export const employeeCredentialStatsView = z.object({
  totalCredentials: z.int(),
  totalSites: z.int(),
  reusedCount: z.int(),
  breachedCount: z.int(),
  lastActivityAt: z.iso.datetime().nullable(),
});

const SQL = `
  select total_credentials, total_sites, reused_count, breached_count, last_activity_at
    from credential_stats where tenant_id = $1 and user_id = $2`;

export const employeeCredentialStats: Query<{ userId: string }, z.output<typeof employeeCredentialStatsView>> = async (
  reads,
  { userId },
) => {
  const [known, row] = await Promise.all([
    reads.one(employeeExists, [userId]),
    reads.figures<Omit<CredentialStatsRow, 'credentials'>>(SQL, [userId]),
  ]);
  if (!known) return notFound();
  return {
    totalCredentials: row?.total_credentials ?? 0,
    totalSites: row?.total_sites ?? 0,
    reusedCount: row?.reused_count ?? 0,
    breachedCount: row?.breached_count ?? 0,
    lastActivityAt: row?.last_activity_at ?? null,
  };
};
