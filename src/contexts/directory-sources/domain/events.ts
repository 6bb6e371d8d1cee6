import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { storedConfig } from './config.ts';

const sourceId = uuid();
const syncId = uuid();
const count = z.int().min(0);

/** What a synchronization did, or would do. */
export const syncCounts = z.object({
  /** People that the directory listed. */
  people: count,
  created: count,
  linked: count,
  changed: count,
  deactivated: count,
  unchanged: count,
  /** People without an e-mail, with one that is taken, or beyond the seats of the license. */
  refused: count,
  groups: count,
  memberships: count,
});
export type SyncCounts = z.output<typeof syncCounts>;

const source = z.object({
  sourceId,
  name: z.string(),
  isEnabled: z.boolean(),
  config: storedConfig,
  /** The credential in the vault; null: none. */
  secretRef: z.string().nullable(),
  syncIntervalMinutes: z.int(),
  /** Percent of the source's people. */
  maxDeactivationShare: z.int(),
  allowPrivateNetwork: z.boolean(),
  caCertificate: z.string().nullable(),
});
export type DirectorySource = z.output<typeof source>;

export const syncTriggers = ['manual', 'schedule'] as const;
export const syncOutcomes = ['succeeded', 'failed', 'planned', 'superseded'] as const;
export type SyncOutcome = (typeof syncOutcomes)[number];

/** A directory from which people and groups are synchronized, and its synchronizations. */
export const directorySourceEvents = defineEvents('directorySource', {
  DirectorySourceCreated: { version: 1, schema: source, audit: 'directory_source.created' },
  /** The complete new content. */
  DirectorySourceUpdated: { version: 1, schema: source, audit: 'directory_source.updated' },
  DirectorySourceDeleted: { version: 1, schema: z.object({ sourceId }), audit: 'directory_source.deleted' },
  /** The groups to synchronize from now on, by their ids at the directory. */
  DirectoryGroupsSelected: {
    version: 1,
    schema: z.object({ sourceId, groupIds: z.array(z.string()) }),
    audit: 'directory_source.groups_selected',
  },
  DirectorySyncStarted: {
    version: 1,
    schema: z.object({ sourceId, syncId, trigger: z.enum(syncTriggers), isDryRun: z.boolean() }),
    audit: 'directory_source.sync_started',
  },
  /** The plan would deactivate more people than the source allows. */
  DirectorySyncHeld: {
    version: 1,
    schema: z.object({ sourceId, syncId, deactivations: count, linkedPeople: count, counts: syncCounts }),
    audit: 'directory_source.sync_held',
  },
  DirectorySyncConfirmed: {
    version: 1,
    schema: z.object({ sourceId, syncId }),
    audit: 'directory_source.sync_confirmed',
  },
  DirectorySyncEnded: {
    version: 1,
    schema: z.object({
      sourceId,
      syncId,
      outcome: z.enum(syncOutcomes),
      /** Why it failed, in fixed words. */
      reason: z.string().nullable(),
      counts: syncCounts,
    }),
    audit: 'directory_source.sync_ended',
  },
});
export type DirectorySourceEvent = EventOf<typeof directorySourceEvents>;
