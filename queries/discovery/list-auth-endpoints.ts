import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import {
  toAuthEndpointView,
  selectAuthEndpoints,
  type AuthEndpointWithDetails,
  type AuthEndpointView,
} from './auth-endpoint-view.ts';

const COUNT = 'select count(*)::int as total from auth_endpoints where tenant_id = $1';
const PAGE = `${selectAuthEndpoints('(select * from auth_endpoints where tenant_id = $1 order by first_seen_at desc, domain limit $2 offset $3)')} order by a.first_seen_at desc, a.domain`;

/** Sign-in hosts, latest discovery first. */
export const listAuthEndpoints: Query<Page, { authEndpoints: AuthEndpointView[] } & Paginated> = async (
  reads,
  page,
) => {
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT),
    reads.rows<AuthEndpointWithDetails>(PAGE, [page.pageSize, (page.page - 1) * page.pageSize]),
  ]);
  return { authEndpoints: rows.map(toAuthEndpointView), ...paginated(count?.total ?? 0, page) };
};
