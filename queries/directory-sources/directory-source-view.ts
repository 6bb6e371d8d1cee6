import { z } from 'zod';
import {
  directorySources,
  directorySyncStates,
  type DirectorySourceRow,
} from '../../projections/directory-sources/directory-sources.ts';
import { directoryTypes, secretFields } from '../../src/contexts/directory-sources/domain/config.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const ldapView = {
  host: z.string(),
  port: z.int(),
  useTls: z.boolean(),
  startTls: z.boolean(),
  baseDn: z.string(),
  bindDn: z.string(),
  bindPasswordConfigured: z.boolean(),
  userFilter: z.string().nullable(),
  groupFilter: z.string().nullable(),
};
const configView = z.union([
  z.object(ldapView).meta({ title: 'LdapDirectoryConfig' }),
  z
    .object({
      directoryId: z.string(),
      clientId: z.string(),
      clientSecretConfigured: z.boolean(),
      loginUrl: z.string(),
      graphUrl: z.string(),
    })
    .meta({ title: 'EntraDirectoryConfig' }),
  z
    .object({
      domain: z.string(),
      adminEmail: z.string(),
      serviceAccountKeyConfigured: z.boolean(),
      apiUrl: z.string(),
    })
    .meta({ title: 'GoogleDirectoryConfig' }),
  z.object({ orgUrl: z.string(), apiTokenConfigured: z.boolean() }).meta({ title: 'OktaDirectoryConfig' }),
]);

/** OP-230. */
export const directorySourceView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    type: z.enum(directoryTypes),
    isEnabled: z.boolean(),
    config: configView,
    allowPrivateNetwork: z.boolean(),
    caCertificate: z.string().nullable(),
    syncIntervalMinutes: z.int(),
    maxDeactivationShare: z.int(),
    syncedGroupIds: z.array(z.string()),
    syncState: z.enum(directorySyncStates),
    syncId: z.uuid().nullable(),
    lastSyncAt: z.iso.datetime().nullable(),
    lastSyncError: z.string().nullable(),
    usersSynced: z.int(),
    groupsSynced: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'DirectorySource' });
export type DirectorySourceView = z.output<typeof directorySourceView>;

function toView(row: DirectorySourceRow): DirectorySourceView {
  const { type, ...config } = row.config;
  return {
    id: row.source_id,
    name: row.name,
    type,
    isEnabled: row.is_enabled,
    config: {
      ...config,
      [`${secretFields[type].name}Configured`]: row.secret_configured,
    } as unknown as DirectorySourceView['config'],
    allowPrivateNetwork: row.allow_private_network,
    caCertificate: row.ca_certificate,
    syncIntervalMinutes: row.sync_interval_minutes,
    maxDeactivationShare: row.max_deactivation_share,
    syncedGroupIds: [...row.synced_group_ids],
    syncState: row.sync_state,
    syncId: row.sync_id,
    lastSyncAt: row.last_sync_at,
    lastSyncError: row.last_sync_error,
    usersSynced: row.users_synced,
    groupsSynced: row.groups_synced,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const SELECT = 'select * from directory_sources where tenant_id = $1';

export const getDirectorySource: Query<{ sourceId: string }, DirectorySourceView> = async (reads, { sourceId }) => {
  const row = await reads.one<DirectorySourceRow>(`${SELECT} and source_id = $2`, [sourceId]);
  return row ? toView(row) : notFound();
};

/** All sources of a tenant, newest first (OP-002, OP-003). */
export const listDirectorySources: Query<
  void,
  { readonly sources: readonly DirectorySourceView[]; readonly total: number }
> = async (reads) => {
  const rows = await reads.rows<DirectorySourceRow>(`${SELECT} order by created_at desc, source_id`);
  return { sources: rows.map(toView), total: rows.length };
};

/** A source from the events that created it. */
export function viewOfNewDirectorySource(
  sourceId: string,
  events: readonly RecordedEvent[],
): DirectorySourceView | undefined {
  const row = newRow(directorySources, { source_id: sourceId }, events);
  return row && toView(row);
}
