import type { ScimProfile, ScimScope } from '../../src/contexts/scim/domain/client-events.ts';
import { scimClientEvents } from '../../src/contexts/scim/domain/client-events.ts';
import { scimRefusalEvents, type ScimRefusal } from '../../src/contexts/scim/domain/refusals.ts';
import {
  at,
  defineReadModel,
  id,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

/** A secret of a client, without anything that would make it usable. */
export interface KnownScimSecret {
  readonly secretId: string;
  readonly issuedAt: string;
  readonly issuedBy: string | null;
  readonly expiresAt: string | null;
}

const columns = {
  client_id: id,
  name: text,
  scopes: json<readonly ScimScope[]>(),
  profile: text as Column<ScimProfile>,
  secrets: json<readonly KnownScimSecret[]>(),
  created_at: timestamp,
  created_by: nullable(id),
  last_refused_at: nullable(timestamp),
  last_refusal: nullable(text as Column<ScimRefusal>),
};
export type ScimClientRow = Row<{ columns: typeof columns }>;

const issued = (
  { secretId, issuedAt, expiresAt }: Omit<KnownScimSecret, 'issuedBy'>,
  issuedBy: string | null,
): KnownScimSecret => ({ secretId, issuedAt, issuedBy, expiresAt });

/** The identity providers that may provision people and groups, without their secrets. */
export const scimClientsModel = defineReadModel({
  name: 'scim_clients',
  version: 3,
  lane: 'main',
  columns,
  key: ['client_id'],
  families: [scimClientEvents, scimRefusalEvents],
  on: {
    ScimClientCreated: (event) => ({
      key: { client_id: event.data.clientId },
      fold: () => ({
        client_id: event.data.clientId,
        name: event.data.name,
        scopes: event.data.scopes,
        profile: event.data.profile,
        secrets: [issued(event.data, event.metadata.actor.id)],
        created_at: at(event),
        created_by: event.metadata.actor.id,
        last_refused_at: null,
        last_refusal: null,
      }),
    }),
    ScimClientSecretIssued: (event) => ({
      key: { client_id: event.data.clientId },
      fold: (row) => row && { ...row, secrets: [...row.secrets, issued(event.data, event.metadata.actor.id)] },
    }),
    ScimClientSecretRemoved: (event) => ({
      key: { client_id: event.data.clientId },
      fold: (row) => row && { ...row, secrets: row.secrets.filter(({ secretId }) => secretId !== event.data.secretId) },
    }),
    ScimClientChanged: ({ data: { clientId, isWidened: _isWidened, ...changes } }) => ({
      key: { client_id: clientId },
      fold: (row) => row && { ...row, ...changes },
    }),
    ScimClientRefused: (event) => ({
      key: { client_id: event.data.clientId },
      fold: (row) => row && { ...row, last_refused_at: at(event), last_refusal: event.data.reason },
    }),
    ScimClientDeleted: (event) => ({ key: { client_id: event.data.clientId }, fold: () => undefined }),
  },
});
