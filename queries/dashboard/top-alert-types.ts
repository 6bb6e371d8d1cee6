import { z } from 'zod';
import { alertTypeSchema, type AlertType } from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { Days } from './days.ts';

/** Choice OP-243. `percentage`: 0..100 with one decimal, of all alerts of these days. */
export const topAlertTypeView = z.object({ alertType: alertTypeSchema, count: z.int(), percentage: z.number() });
export type TopAlertType = z.output<typeof topAlertTypeView>;

const SQL = `
  select alert_type as type, sum(raised)::int as count from alert_daily
   where tenant_id = $1 and day between $2::date and $3::date group by 1 order by 2 desc, 1`;

export const topAlertTypes: Query<Days & { limit: number }, { alertTypes: TopAlertType[] }> = async (
  reads,
  { from, to, limit },
) => {
  const types = await reads.rows<{ type: AlertType; count: number }>(SQL, [from, to]);
  const total = types.reduce((sum, { count }) => sum + count, 0);
  return {
    alertTypes: types
      .slice(0, limit)
      .map(({ type, count }) => ({ alertType: type, count, percentage: Math.round((1_000 * count) / total) / 10 })),
  };
};
