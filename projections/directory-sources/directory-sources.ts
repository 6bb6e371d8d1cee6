import type { DirectoryConfig } from '../../src/contexts/directory-sources/domain/config.ts';
import { directorySourceEvents, type DirectorySource } from '../../src/contexts/directory-sources/domain/events.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

export const directorySyncStates = ['idle', 'syncing', 'awaiting_confirmation', 'succeeded', 'failed'] as const;
export type DirectorySyncState = (typeof directorySyncStates)[number];

const columns = {
  source_id: id,
  name: text,
  is_enabled: flag,
  config: json<DirectoryConfig>(),
  secret_configured: flag,
  sync_interval_minutes: integer,
  max_deactivation_share: integer,
  allow_private_network: flag,
  ca_certificate: nullable(text),
  synced_group_ids: json<readonly string[]>(),
  sync_state: text as Column<DirectorySyncState>,
  /** The synchronization that is under way or waits. */
  sync_id: nullable(id),
  /** The state to return to after a dry run or a superseded plan. */
  settled_state: text as Column<DirectorySyncState>,
  /** The end of the latest synchronization that was no dry run. */
  last_sync_at: nullable(timestamp),
  last_sync_error: nullable(text),
  /** The start of the latest one, dry runs included. */
  last_started_at: nullable(timestamp),
  users_synced: integer,
  groups_synced: integer,
  created_at: timestamp,
  updated_at: timestamp,
};
export type DirectorySourceRow = Row<{ columns: typeof columns }>;

const described = (data: DirectorySource) => ({
  source_id: data.sourceId,
  name: data.name,
  is_enabled: data.isEnabled,
  config: data.config,
  secret_configured: data.secretRef !== null,
  sync_interval_minutes: data.syncIntervalMinutes,
  max_deactivation_share: data.maxDeactivationShare,
  allow_private_network: data.allowPrivateNetwork,
  ca_certificate: data.caCertificate,
});

const keyOf = ({ sourceId }: { readonly sourceId: string }) => ({ source_id: sourceId });

/** A tenant's directories. Shows whether a credential is set, never its reference. */
export const directorySources = defineReadModel({
  name: 'directory_sources',
  version: 1,
  lane: 'main',
  columns,
  key: ['source_id'],
  families: [directorySourceEvents],
  on: {
    DirectorySourceCreated: (event) => ({
      key: keyOf(event.data),
      fold: () => ({
        ...described(event.data),
        synced_group_ids: [],
        sync_state: 'idle' as const,
        settled_state: 'idle' as const,
        sync_id: null,
        last_sync_at: null,
        last_sync_error: null,
        last_started_at: null,
        users_synced: 0,
        groups_synced: 0,
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    DirectorySourceUpdated: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && { ...row, ...described(event.data), updated_at: at(event) },
    }),
    DirectorySourceDeleted: (event) => ({ key: keyOf(event.data), fold: () => undefined }),
    DirectoryGroupsSelected: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && { ...row, synced_group_ids: event.data.groupIds, updated_at: at(event) },
    }),
    DirectorySyncStarted: (event) => ({
      key: keyOf(event.data),
      fold: (row) =>
        row && { ...row, sync_state: 'syncing' as const, sync_id: event.data.syncId, last_started_at: at(event) },
    }),
    DirectorySyncHeld: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && { ...row, sync_state: 'awaiting_confirmation' as const },
    }),
    DirectorySyncConfirmed: (event) => ({
      key: keyOf(event.data),
      fold: (row) => row && { ...row, sync_state: 'syncing' as const },
    }),
    DirectorySyncEnded: (event) => ({
      key: keyOf(event.data),
      fold: (row) => {
        if (!row) return row;
        const { outcome, reason, counts } = event.data;
        const settled = { ...row, sync_state: row.settled_state, sync_id: null };
        if (outcome === 'planned' || outcome === 'superseded') return settled;
        const ended = {
          ...settled,
          sync_state: outcome,
          settled_state: outcome,
          last_sync_at: at(event),
          last_sync_error: reason,
        };
        return outcome === 'failed'
          ? ended
          : { ...ended, users_synced: counts.people - counts.refused, groups_synced: counts.groups };
      },
    }),
  },
});
