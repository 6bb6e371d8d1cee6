import {
  isLiveSecret,
  MAX_SCIM_SECRETS,
  scimClients,
  scimClientsStream,
} from '../../src/contexts/scim/domain/clients.ts';
import type { ScimClientEvent } from '../../src/contexts/scim/domain/client-events.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, notFound } from '../../src/platform/kernel/failure.ts';
import { hasExpired, type NewScimSecret } from './create-scim-client.ts';

interface IssueScimSecret extends NewScimSecret {
  readonly clientId: string;
}

/** Adds a second secret, so that a provider can be switched over. Expired secrets make room; live ones do not. */
export const issueScimSecret = defineCommand({
  name: 'IssueScimSecret',
  aggregate: scimClients,
  stream: (_input: IssueScimSecret, { tenantId }) => scimClientsStream(tenantId),
  decide({ clients }, { clientId, secretId, secretDigest, expiresAt }, { now }) {
    const client = clients.get(clientId);
    if (!client) return notFound();
    if (hasExpired(expiresAt, now)) return invalid('expiresAt', 'must be in the future');
    const live = client.secrets.filter((secret) => isLiveSecret(secret, now));
    if (live.length >= MAX_SCIM_SECRETS)
      return conflict('limit_reached', 'the client has two secrets: remove one first');
    const expired = client.secrets.filter((secret) => !isLiveSecret(secret, now));
    const createdAt = new Date(now).toISOString();
    return acceptWith({ createdAt, expiresAt }, [
      ...expired.map((secret) => ({
        type: 'ScimClientSecretRemoved' as const,
        data: { clientId, secretId: secret.secretId },
      })),
      {
        type: 'ScimClientSecretIssued' as const,
        data: { clientId, secretId, secretDigest, expiresAt, issuedAt: createdAt },
      },
    ]);
  },
  recall: (_before, events, { expiresAt }) => ({ createdAt: issuedAtOf(events), expiresAt }),
  freshens: ['scim_clients', 'live-state'],
});

const issuedAtOf = (events: readonly ScimClientEvent[]): string =>
  events.flatMap((event) => (event.type === 'ScimClientSecretIssued' ? [event.data.issuedAt] : []))[0] ?? '';
