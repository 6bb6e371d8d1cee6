import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toEndpointView, selectEndpoints, type EndpointWithDetails, type EndpointView } from './endpoint-view.ts';

const SQL = `${selectEndpoints('endpoints')} where e.tenant_id = $1 and e.endpoint_id = $2`;

export const getEndpoint: Query<{ endpointId: string }, EndpointView> = async (reads, { endpointId }) => {
  const row = await reads.one<EndpointWithDetails>(SQL, [endpointId]);
  return row ? toEndpointView(row) : notFound();
};

/** The host of the endpoint, as commands name it. */
export const endpointHost: Query<{ endpointId: string }, string> = async (reads, { endpointId }) => {
  const row = await reads.one<{ domain: string }>(
    'select domain from endpoints where tenant_id = $1 and endpoint_id = $2',
    [endpointId],
  );
  return row?.domain ?? notFound();
};
