import { NOTHING_SYNCED } from '../../src/contexts/directory-sources/domain/sync-counts.ts';
import { directorySourceEvents, type SyncCounts } from '../../src/contexts/directory-sources/domain/events.ts';
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

export const directorySyncRecordStates = [
  'syncing',
  'awaiting_confirmation',
  'succeeded',
  'failed',
  'planned',
  'superseded',
] as const;

const columns = {
  sync_id: id,
  source_id: id,
  trigger: text as Column<'manual' | 'schedule'>,
  is_dry_run: flag,
  state: text as Column<(typeof directorySyncRecordStates)[number]>,
  reason: nullable(text),
  counts: json<SyncCounts>(),
  /** People of the source when the plan was held. */
  linked_people: nullable(integer),
  started_at: timestamp,
  confirmed_at: nullable(timestamp),
  confirmed_by: nullable(id),
  ended_at: nullable(timestamp),
};
export type DirectorySyncRow = Row<{ columns: typeof columns }>;

const keyOf = ({ syncId }: { readonly syncId: string }) => ({ sync_id: syncId });

/** The receipts of synchronizations. */
export const directorySyncs = defineReadModel({
  name: 'directory_syncs',
  version: 1,
  lane: 'main',
  columns,
  key: ['sync_id'],
  indexes: [['source_id', 'started_at desc', 'sync_id']],
  families: [directorySourceEvents],
  on: {
    DirectorySyncStarted: (event) => ({
      key: keyOf(event.data),
      fold: () => ({
        sync_id: event.data.syncId,
        source_id: event.data.sourceId,
        trigger: event.data.trigger,
        is_dry_run: event.data.isDryRun,
        state: 'syncing' as const,
        reason: null,
        counts: NOTHING_SYNCED,
        linked_people: null,
        started_at: at(event),
        confirmed_at: null,
        confirmed_by: null,
        ended_at: null,
      }),
    }),
    DirectorySyncHeld: (event) => ({
      key: keyOf(event.data),
      fold: (row) =>
        row && {
          ...row,
          state: 'awaiting_confirmation' as const,
          counts: event.data.counts,
          linked_people: event.data.linkedPeople,
        },
    }),
    DirectorySyncConfirmed: (event) => ({
      key: keyOf(event.data),
      fold: (row) =>
        row && {
          ...row,
          state: 'syncing' as const,
          confirmed_at: at(event),
          confirmed_by: event.metadata.actor.id,
        },
    }),
    DirectorySyncEnded: (event) => ({
      key: keyOf(event.data),
      fold: (row) => {
        if (!row) return row;
        const { outcome, reason, counts } = event.data;
        return {
          ...row,
          state: outcome,
          reason,
          counts: outcome === 'superseded' ? row.counts : counts,
          ended_at: at(event),
        };
      },
    }),
    DirectorySourceDeleted: ({ data: { sourceId } }) => ({ purge: { source_id: sourceId } }),
  },
});
