import { z } from 'zod';
import { scimClientsModel, type ScimClientRow } from '../../projections/scim/scim-clients.ts';
import { clientNameOf } from '../../src/contexts/scim/domain/client-names.ts';
import { scimProfiles, scimScopes } from '../../src/contexts/scim/domain/client-events.ts';
import { scimRefusals } from '../../src/contexts/scim/domain/refusals.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** A SCIM client as administrators see it. Never contains a secret. */
export const scimClientView = z
  .object({
    id: z.uuid(),
    clientId: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(scimScopes)),
    profile: z.enum(scimProfiles),
    /** The live ones, oldest first. */
    credentials: z.array(
      z.object({
        id: z.uuid(),
        createdAt: z.iso.datetime(),
        createdBy: z.uuid().nullable(),
        /** Null: valid until it is removed. */
        expiresAt: z.iso.datetime().nullable(),
      }),
    ),
    createdAt: z.iso.datetime(),
    createdBy: z.uuid().nullable(),
    /** When the client last got or used a token, to the minute. */
    lastUsedAt: z.iso.datetime().nullable(),
    /** The newest refusal that the audit log has: of each reason one an hour. */
    lastRefusedAt: z.iso.datetime().nullable(),
    lastRefusal: z.enum(scimRefusals).nullable(),
  })
  .meta({ title: 'ScimClient' });
export type ScimClientView = z.output<typeof scimClientView>;

export const scimClientViewOf = (
  tenantId: TenantId,
  row: ScimClientRow,
  now: number,
  lastUsedAt: string | null = null,
): ScimClientView => ({
  id: row.client_id,
  clientId: clientNameOf({ tenantId, id: row.client_id }),
  name: row.name,
  scopes: [...row.scopes],
  profile: row.profile,
  credentials: row.secrets
    .filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now)
    .map(({ secretId, issuedAt, issuedBy, expiresAt }) => ({
      id: secretId,
      createdAt: issuedAt,
      createdBy: issuedBy,
      expiresAt,
    })),
  createdAt: row.created_at,
  createdBy: row.created_by,
  lastUsedAt,
  lastRefusedAt: row.last_refused_at,
  lastRefusal: row.last_refusal,
});

const SQL = 'select * from scim_clients where tenant_id = $1 order by created_at desc, client_id';

/** All of them, newest first: a tenant has at most fifty. */
export const listScimClients: Query<
  { now: number; lastUses: ReadonlyMap<string, string> },
  { clients: ScimClientView[]; total: number }
> = async (reads, { now, lastUses }) => {
  const rows = await reads.rows<ScimClientRow>(SQL);
  const clients = rows.map((row) => scimClientViewOf(reads.tenantId, row, now, lastUses.get(row.client_id) ?? null));
  return { clients, total: clients.length };
};

interface OfClient {
  readonly id: string;
  readonly now: number;
  readonly lastUsedAt?: string | null;
}

export const scimClient: Query<OfClient, ScimClientView> = async (reads, { id, now, lastUsedAt }) => {
  const row = await reads.one<ScimClientRow>('select * from scim_clients where tenant_id = $1 and client_id = $2', [
    id,
  ]);
  return row ? scimClientViewOf(reads.tenantId, row, now, lastUsedAt) : notFound();
};

/** A client from the events that created it. */
export const viewOfNewScimClient =
  (tenantId: TenantId, id: string, now: number) =>
  (events: readonly RecordedEvent[]): ScimClientView | undefined => {
    const row = newRow(scimClientsModel, { client_id: id }, events);
    return row && scimClientViewOf(tenantId, row, now);
  };
