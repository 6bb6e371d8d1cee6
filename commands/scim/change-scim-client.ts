import type { ScimProfile, ScimScope } from '../../src/contexts/scim/domain/client-events.ts';
import { scimClients, scimClientsStream, type ScimClient } from '../../src/contexts/scim/domain/clients.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

/** Omitted fields keep their values. */
interface Wanted {
  readonly name?: string | undefined;
  readonly profile?: ScimProfile | undefined;
  readonly scopes?: readonly ScimScope[] | undefined;
}

interface ChangeScimClient extends Wanted {
  readonly clientId: string;
}

/** Changes a client without ending it: its secrets, and the people and groups that it provisioned, stay its own (OP-600). */
export const changeScimClient = defineCommand({
  name: 'ChangeScimClient',
  aggregate: scimClients,
  stream: (_input: ChangeScimClient, { tenantId }) => scimClientsStream(tenantId),
  decide({ clients }, { clientId, ...wanted }) {
    const client = clients.get(clientId);
    if (!client) return notFound();
    const changes = changesOf(client, wanted);
    if (Object.keys(changes).length === 0) return accept([]);
    const isWidened = changes.scopes?.some((scope) => !client.scopes.includes(scope)) ?? false;
    return accept([{ type: 'ScimClientChanged', data: { clientId, ...changes, isWidened } }]);
  },
  freshens: ['scim_clients', 'live-state'],
});

function changesOf(client: ScimClient, { name, profile, scopes }: Wanted) {
  return {
    ...(name === undefined || name === client.name ? {} : { name }),
    ...(profile === undefined || profile === client.profile ? {} : { profile }),
    ...(scopes === undefined || isSameSet(scopes, client.scopes) ? {} : { scopes: [...new Set(scopes)] }),
  };
}

const isSameSet = (some: readonly ScimScope[], others: readonly ScimScope[]): boolean =>
  some.every((scope) => others.includes(scope)) && others.every((scope) => some.includes(scope));
