import { scimClients, scimClientsStream } from '../../src/contexts/scim/domain/clients.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RemoveScimSecret {
  readonly clientId: string;
  readonly secretId: string;
}

/** Ends a secret and every token that was got with it. */
export const removeScimSecret = defineCommand({
  name: 'RemoveScimSecret',
  aggregate: scimClients,
  stream: (_input: RemoveScimSecret, { tenantId }) => scimClientsStream(tenantId),
  decide({ clients }, { clientId, secretId }) {
    if (!clients.get(clientId)?.secrets.some((secret) => secret.secretId === secretId)) return notFound();
    return accept([{ type: 'ScimClientSecretRemoved', data: { clientId, secretId } }]);
  },
  freshens: ['scim_clients', 'live-state'],
});
