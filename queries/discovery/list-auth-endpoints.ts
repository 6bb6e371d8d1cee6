import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';
import {
  toAuthEndpointView,
  selectAuthEndpoints,
  type AuthEndpointWithDetails,
  type AuthEndpointView,
} from './auth-endpoint-view.ts';

const COUNT = 'select count(*)::int as total from auth_endpoints where tenant_id = $1';

export const authEndpointOrder: KeysetOrder<AuthEndpointWithDetails> = {
  list: 'auth-endpoints',
  columns: [descending('a.first_seen_at', 'timestamptz'), ascending('a.domain', 'text')],
  valuesOf: ({ first_seen_at, domain }) => [first_seen_at, domain],
};

/** Sign-in hosts, latest discovery first. */
export const listAuthEndpoints: Query<Page, { authEndpoints: AuthEndpointView[] } & KeysetPaginated> = async (
  reads,
  page,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: authEndpointOrder,
      count: COUNT,
      page: ({ where, tail }) =>
        `${selectAuthEndpoints(`(select * from auth_endpoints a where a.tenant_id = $1 ${where} ${tail})`)} ${orderBy(authEndpointOrder)}`,
    },
    [],
    page,
  );
  return { authEndpoints: rows.map(toAuthEndpointView), ...pages };
};
