import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import {
  toAuthEndpointView,
  selectAuthEndpoints,
  type AuthEndpointWithDetails,
  type AuthEndpointView,
} from './auth-endpoint-view.ts';

const SQL = `${selectAuthEndpoints('auth_endpoints')} where a.tenant_id = $1 and a.auth_endpoint_id = $2`;

export const getAuthEndpoint: Query<{ authEndpointId: string }, AuthEndpointView> = async (
  reads,
  { authEndpointId },
) => {
  const row = await reads.one<AuthEndpointWithDetails>(SQL, [authEndpointId]);
  return row ? toAuthEndpointView(row) : notFound();
};

/** The host of the endpoint, as commands name it. */
export const authEndpointHost: Query<{ authEndpointId: string }, string> = async (reads, { authEndpointId }) => {
  const row = await reads.one<{ domain: string }>(
    'select domain from auth_endpoints where tenant_id = $1 and auth_endpoint_id = $2',
    [authEndpointId],
  );
  return row?.domain ?? notFound();
};
