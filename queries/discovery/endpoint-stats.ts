import { z } from 'zod';
import { classifications, type Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { IS_MALICIOUS } from './endpoint-view.ts';

/** Choice OP-094. */
export const endpointStatsView = z.object({
  total: z.int(),
  byClassification: z.record(z.enum(classifications), z.int()),
  newLast7Days: z.int(),
  malicious: z.int(),
});
export type EndpointStats = z.output<typeof endpointStatsView>;

const TOTALS = `
  select (select count(*)::int from endpoints where tenant_id = $1) as total,
         (select count(*)::int from endpoints where tenant_id = $1 and first_seen_at >= now() - interval '7 days') as "newLast7Days",
         (select count(*)::int from (
            select endpoint_id from endpoints where tenant_id = $1 and reported_malicious
            union select endpoint_id from endpoint_classifications where tenant_id = $1 and classification = 'malicious'
            union select h.endpoint_id from domain_scans d join endpoints h on h.tenant_id = $1 and h.domain = d.domain
                   where d.tenant_id = $1 and d.is_malicious) m
            join endpoints e on e.tenant_id = $1 and e.endpoint_id = m.endpoint_id
            left join endpoint_classifications c on c.tenant_id = $1 and c.endpoint_id = e.endpoint_id
            left join domain_scans s on s.tenant_id = $1 and s.domain = e.domain
           where ${IS_MALICIOUS}) as malicious`;
const DECIDED = `
  select c.classification, count(*)::int as count
    from endpoint_classifications c join endpoints e on e.tenant_id = $1 and e.endpoint_id = c.endpoint_id
   where c.tenant_id = $1 and c.classification <> 'unknown' group by 1`;

/** Hosts without a decision count as `unknown`. */
export const endpointStats: Query<void, EndpointStats> = async (reads) => {
  const [totals, decided] = await Promise.all([
    reads.figures<Omit<EndpointStats, 'byClassification'>>(TOTALS),
    reads.rows<{ classification: Classification; count: number }>(DECIDED),
  ]);
  const { total, newLast7Days, malicious } = totals!;
  const byClassification = Object.fromEntries(classifications.map((name) => [name, 0])) as Record<
    Classification,
    number
  >;
  for (const { classification, count } of decided) byClassification[classification] = count;
  byClassification.unknown = total - decided.reduce((sum, { count }) => sum + count, 0);
  return { total, byClassification, newLast7Days, malicious };
};
