import { scimClients, scimClientsStream } from '../../src/contexts/scim/domain/clients.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteScimClient {
  readonly clientId: string;
}

/** Ends a client, its secrets and its tokens (F263). People and groups that it provisioned stay. */
export const deleteScimClient = defineCommand({
  name: 'DeleteScimClient',
  aggregate: scimClients,
  stream: (_input: DeleteScimClient, { tenantId }) => scimClientsStream(tenantId),
  decide({ clients }, { clientId }) {
    if (!clients.has(clientId)) return notFound();
    return accept([{ type: 'ScimClientDeleted', data: { clientId } }]);
  },
  freshens: ['scim_clients', 'live-state'],
});
