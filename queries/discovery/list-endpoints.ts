import type { Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import { MAX_HITS } from '../search/hits.ts';
import { toEndpointView, selectEndpoints, type EndpointWithDetails, type EndpointView } from './endpoint-view.ts';

export interface EndpointFilter {
  readonly classification?: Classification | undefined;
  /** Substring of host, address or title, case-insensitive (choice OP-008). */
  readonly search?: string | undefined;
}

const decidedAs = (test: string) =>
  `exists (select from endpoint_classifications c where c.tenant_id = $1 and c.endpoint_id = e.endpoint_id and c.classification ${test})`;

/**
 * Builds the row source for the filter: each combination has its own index. `$2` and `$3` are always referenced, even
 * if unused.
 */
function rowsFor({ classification, search }: EndpointFilter): string {
  const source =
    search === undefined
      ? 'endpoints e'
      : `search_hits('endpoints', $3, ${MAX_HITS}) h join endpoints e on e.endpoint_id = h.id`;
  const found = search === undefined ? '$3::text is null' : 'true';
  const decided =
    classification === undefined
      ? '$2::text is null'
      : classification === 'unknown'
        ? `not ${decidedAs('<> $2')}`
        : decidedAs('= $2');
  return `${source} where e.tenant_id = $1 and ${found} and ${decided}`;
}

const sqlFor = (filter: EndpointFilter) => {
  const rows = rowsFor(filter);
  const page = `(select e.* from ${rows} order by e.first_seen_at desc, e.domain limit $4 offset $5)`;
  return {
    count: `select count(*)::int as total from ${rows}`,
    page: `${selectEndpoints(page)} order by e.first_seen_at desc, e.domain`,
  };
};

/** Discovered hosts, latest discovery first. */
export const listEndpoints: Query<EndpointFilter & Page, { endpoints: EndpointView[] } & Paginated> = async (
  reads,
  input,
) => {
  const sql = sqlFor(input);
  const filter = [input.classification ?? null, input.search ?? null];
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(sql.count, filter),
    reads.rows<EndpointWithDetails>(sql.page, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { endpoints: rows.map(toEndpointView), ...paginated(count?.total ?? 0, input) };
};
