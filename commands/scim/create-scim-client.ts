import { MAX_SCIM_CLIENTS, scimClients, scimClientsStream } from '../../src/contexts/scim/domain/clients.ts';
import type { ScimProfile, ScimScope } from '../../src/contexts/scim/domain/client-events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid } from '../../src/platform/kernel/failure.ts';

export interface NewScimSecret {
  readonly secretId: string;
  /** Only the digest is stored; the secret itself goes only to the caller. */
  readonly secretDigest: string;
  /** ISO 8601. Null: valid until it is removed. */
  readonly expiresAt: string | null;
}

interface CreateScimClient extends NewScimSecret {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly ScimScope[];
  readonly profile: ScimProfile;
}

export const hasExpired = (expiresAt: string | null, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now;

/** Registers an identity provider that may provision people and groups. */
export const createScimClient = defineCommand({
  name: 'CreateScimClient',
  aggregate: scimClients,
  stream: (_input: CreateScimClient, { tenantId }) => scimClientsStream(tenantId),
  decide({ clients }, { scopes, ...input }, { now }) {
    if (clients.has(input.clientId)) return conflict();
    if (hasExpired(input.expiresAt, now)) return invalid('expiresAt', 'must be in the future');
    if (clients.size >= MAX_SCIM_CLIENTS)
      return conflict('limit_reached', `no more than ${MAX_SCIM_CLIENTS} SCIM clients`);
    const issuedAt = new Date(now).toISOString();
    return accept([{ type: 'ScimClientCreated', data: { ...input, scopes: [...new Set(scopes)], issuedAt } }]);
  },
  freshens: ['scim_clients', 'live-state'],
});
