import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { scimClientEvents, type ScimProfile, type ScimScope } from './client-events.ts';
import type { ScimRefusal } from './refusals.ts';

export interface ScimClientSecret {
  readonly secretId: string;
  readonly secretDigest: string;
  /** ISO 8601. Null: valid until it is removed. */
  readonly expiresAt: string | null;
}

export interface ScimClient {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly ScimScope[];
  readonly profile: ScimProfile;
  readonly secrets: readonly ScimClientSecret[];
  /** The newest ones: whoever still presents one of them is told apart from a caller who guesses. */
  readonly removedSecrets: readonly ScimClientSecret[];
}

export interface ScimClientsState {
  readonly clients: ReadonlyMap<string, ScimClient>;
}

/** Of a tenant. A company has one or two identity providers. */
export const MAX_SCIM_CLIENTS = 50;
const MAX_REMOVED_SECRETS = 10;
/** Two, so that a provider can switch to the new secret while the old one works. */
export const MAX_SCIM_SECRETS = 2;

export const scimClients = defineAggregate<ScimClientsState, typeof scimClientEvents>(
  scimClientEvents,
  { clients: new Map() },
  ({ clients }, event) => {
    const next = new Map(clients);
    const known = clients.get(event.data.clientId);
    switch (event.type) {
      case 'ScimClientCreated': {
        const { clientId, name, scopes, profile, secretId, secretDigest, expiresAt } = event.data;
        const secrets = [{ secretId, secretDigest, expiresAt }];
        next.set(clientId, { clientId, name, scopes, profile, secrets, removedSecrets: [] });
        break;
      }
      case 'ScimClientSecretIssued': {
        const { secretId, secretDigest, expiresAt } = event.data;
        if (known)
          next.set(known.clientId, {
            ...known,
            secrets: [...known.secrets, { secretId, secretDigest, expiresAt }],
          });
        break;
      }
      case 'ScimClientSecretRemoved':
        if (known) next.set(known.clientId, withoutSecret(known, event.data.secretId));
        break;
      case 'ScimClientChanged': {
        const { clientId: _clientId, isWidened: _isWidened, ...changes } = event.data;
        if (known) next.set(known.clientId, { ...known, ...changes });
        break;
      }
      case 'ScimClientDeleted':
        next.delete(event.data.clientId);
    }
    return { clients: next };
  },
);

const withoutSecret = (client: ScimClient, removed: string): ScimClient => ({
  ...client,
  secrets: client.secrets.filter(({ secretId }) => secretId !== removed),
  removedSecrets: [...client.removedSecrets, ...client.secrets.filter(({ secretId }) => secretId === removed)].slice(
    -MAX_REMOVED_SECRETS,
  ),
});

/** Each tenant has one such stream. */
export const scimClientsStream = (tenantId: TenantId): string => streamName('scimClients', tenantId, tenantId);

export const isLiveSecret = ({ expiresAt }: Pick<ScimClientSecret, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || Date.parse(expiresAt) > now;

/** 32 random octets, base64url: shown once, never stored. So much entropy needs no slow hash. */
export const newClientSecret = (octetsOf: (size: number) => Buffer = randomBytes): string =>
  octetsOf(32).toString('base64url');

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
export const digestOfClientSecret = (secret: string): string => sha256(secret).toString('hex');

/** Placeholder for a missing secret: no input has this digest. */
const NOTHING: ScimClientSecret = { secretId: '', secretDigest: '0'.repeat(64), expiresAt: null };

/** The live secret that was presented. Takes the same time with and without a client, and for any input. */
export function presentedSecret(
  client: ScimClient | undefined,
  presented: string,
  now: number,
): ScimClientSecret | undefined {
  const digest = sha256(presented);
  const live = (client?.secrets ?? []).filter((secret) => isLiveSecret(secret, now));
  const matching = [live[0] ?? NOTHING, live[1] ?? NOTHING].filter((secret) =>
    timingSafeEqual(digest, Buffer.from(secret.secretDigest, 'hex')),
  );
  return matching[0];
}

export interface RefusedSecret {
  readonly reason: ScimRefusal;
  readonly secretId: string | null;
}

/** Why a secret is refused that is no live one of the client. */
export function refusedSecret(client: ScimClient, presented: string): RefusedSecret {
  const digest = sha256(presented);
  const isPresented = ({ secretDigest }: ScimClientSecret) => timingSafeEqual(digest, Buffer.from(secretDigest, 'hex'));
  const known = client.secrets.find(isPresented);
  if (known) return { reason: 'expired_secret', secretId: known.secretId };
  const removed = client.removedSecrets.find(isPresented);
  return removed
    ? { reason: 'removed_secret', secretId: removed.secretId }
    : { reason: 'wrong_secret', secretId: null };
}
