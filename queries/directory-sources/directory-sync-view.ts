import { z } from 'zod';
import {
  directorySyncRecordStates,
  type DirectorySyncRow,
} from '../../projections/directory-sources/directory-syncs.ts';
import { syncCounts, syncTriggers } from '../../src/contexts/directory-sources/domain/events.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The receipt of a synchronization. */
export const directorySyncSummary = z.object({
  syncId: z.uuid(),
  sourceId: z.uuid(),
  trigger: z.enum(syncTriggers),
  dryRun: z.boolean(),
  syncState: z.enum(directorySyncRecordStates),
  error: z
    .string()
    .nullable()
    .describe('Why it failed. Of one that succeeded: which selected group could not be read, and why'),
  counts: syncCounts,
  linkedPeople: z.int().nullable(),
  startedAt: z.iso.datetime(),
  confirmedAt: z.iso.datetime().nullable(),
  confirmedBy: z.uuid().nullable(),
  endedAt: z.iso.datetime().nullable(),
});
export type DirectorySyncSummary = z.output<typeof directorySyncSummary>;

const toSummary = (row: DirectorySyncRow): DirectorySyncSummary => ({
  syncId: row.sync_id,
  sourceId: row.source_id,
  trigger: row.trigger,
  dryRun: row.is_dry_run,
  syncState: row.state,
  error: row.reason,
  counts: row.counts,
  linkedPeople: row.linked_people,
  startedAt: row.started_at,
  confirmedAt: row.confirmed_at,
  confirmedBy: row.confirmed_by,
  endedAt: row.ended_at,
});

interface OneSync {
  readonly sourceId: string;
  readonly syncId: string;
}

export const getDirectorySync: Query<OneSync, DirectorySyncSummary> = async (reads, { sourceId, syncId }) => {
  const row = await reads.one<DirectorySyncRow>(
    'select * from directory_syncs where tenant_id = $1 and source_id = $2 and sync_id = $3',
    [sourceId, syncId],
  );
  return row ? toSummary(row) : notFound();
};

/** Receipts that a list shows. */
const LISTED = 100;

/** The latest synchronizations of a source, newest first. */
export const listDirectorySyncs: Query<
  { readonly sourceId: string },
  { readonly syncs: readonly DirectorySyncSummary[]; readonly total: number }
> = async (reads, { sourceId }) => {
  const rows = await reads.rows<DirectorySyncRow>(
    `select * from directory_syncs where tenant_id = $1 and source_id = $2 order by started_at desc, sync_id limit ${LISTED}`,
    [sourceId],
  );
  return { syncs: rows.map(toSummary), total: rows.length };
};
