import { z } from 'zod';
import type { TelemetryDailyRow } from '../../projections/telemetry/telemetry-daily.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-164. */
export const telemetryStatsView = z.object({
  total: z.int(),
  navigation: z.int(),
  credentialAttempts: z.int(),
  authFlow: z.int(),
  extension: z.int(),
  byDay: z.array(z.object({ date: z.iso.date(), count: z.int() })),
});
export type TelemetryStats = z.output<typeof telemetryStatsView>;

const SQL = `
  select * from telemetry_daily
   where tenant_id = $1 and ($2::date is null or day >= $2) and ($3::date is null or day <= $3)
   order by day`;

/**
 * Observations by the UTC day on which they occurred, counted on arrival. Days without any are left out. Both ends
 * inclusive.
 */
export const telemetryStats: Query<{ from?: string | undefined; to?: string | undefined }, TelemetryStats> = async (
  reads,
  { from, to },
) => {
  const days = await reads.rows<TelemetryDailyRow>(SQL, [from?.slice(0, 10) ?? null, to?.slice(0, 10) ?? null]);
  const sum = (count: (row: TelemetryDailyRow) => number) => days.reduce((total, row) => total + count(row), 0);
  return {
    total: sum(({ total }) => total),
    navigation: sum(({ navigation }) => navigation),
    credentialAttempts: sum(({ credential_attempts }) => credential_attempts),
    authFlow: sum(({ auth_flow }) => auth_flow),
    extension: sum(({ extension }) => extension),
    byDay: days.map(({ day, total }) => ({ date: day, count: total })),
  };
};
