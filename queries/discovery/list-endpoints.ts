import type { Classification } from '../../src/contexts/discovery/domain/vocabulary.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';
import { asStoredHost, MAX_HITS } from '../search/hits.ts';
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
      : `search_hits('endpoints', $3, $4, ${MAX_HITS}) h join endpoints e on e.endpoint_id = h.id`;
  const found = search === undefined ? '$3::text is null and $4::text is null' : 'true';
  const decided =
    classification === undefined
      ? '$2::text is null'
      : classification === 'unknown'
        ? `not ${decidedAs('<> $2')}`
        : decidedAs('= $2');
  return `${source} where e.tenant_id = $1 and ${found} and ${decided}`;
}

export const endpointOrder: KeysetOrder<EndpointWithDetails> = {
  list: 'endpoints',
  columns: [descending('e.first_seen_at', 'timestamptz'), ascending('e.domain', 'text')],
  valuesOf: ({ first_seen_at, domain }) => [first_seen_at, domain],
};

/** Discovered hosts, latest discovery first. A search finds the latest 10,000. */
export const listEndpoints: Query<EndpointFilter & Page, { endpoints: EndpointView[] } & KeysetPaginated> = async (
  reads,
  input,
) => {
  const from = rowsFor(input);
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: endpointOrder,
      count: `select count(*)::int as total from ${from}`,
      ...(input.search === undefined ? {} : { counted: MAX_HITS }),
      page: ({ where, tail }) =>
        `${selectEndpoints(`(select e.* from ${from} ${where} ${tail})`)} ${orderBy(endpointOrder)}`,
    },
    [input.classification ?? null, input.search ?? null, input.search ? asStoredHost(input.search) : null],
    input,
  );
  return { endpoints: rows.map(toEndpointView), ...pages };
};
