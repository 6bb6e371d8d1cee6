import { z } from 'zod';
import { alertTypeSchema, type AlertType } from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { momentsOf, type Days } from './days.ts';

/** Choice OP-243. `percentage`: 0..100 with one decimal, of all alerts of these days. */
export const topAlertTypeView = z.object({ alertType: alertTypeSchema, count: z.int(), percentage: z.number() });
export type TopAlertType = z.output<typeof topAlertTypeView>;

const SQL = `
  select alert_type as type, sum(raised)::int as count from alert_types
   where tenant_id = $1 and quarter >= $2 and quarter < $3 group by 1 order by 2 desc, 1`;

export const topAlertTypes: Query<Days & { limit: number }, { alertTypes: TopAlertType[] }> = async (
  reads,
  { limit, ...days },
) => {
  const { from, until } = momentsOf(days);
  const types = await reads.rows<{ type: AlertType; count: number }>(SQL, [from, until]);
  const total = types.reduce((sum, { count }) => sum + count, 0);
  return {
    alertTypes: types
      .slice(0, limit)
      .map(({ type, count }) => ({ alertType: type, count, percentage: Math.round((1_000 * count) / total) / 10 })),
  };
};
