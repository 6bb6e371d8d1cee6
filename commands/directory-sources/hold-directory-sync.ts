import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import type { SyncCounts } from '../../src/contexts/directory-sources/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface HoldDirectorySync {
  readonly sourceId: string;
  readonly syncId: string;
  readonly deactivations: number;
  readonly linkedPeople: number;
  readonly counts: SyncCounts;
}

/** Stops a synchronization before it changes anything, until a super admin confirms its plan. Idempotent. */
export const holdDirectorySync = defineCommand({
  name: 'HoldDirectorySync',
  aggregate: directorySource,
  stream: ({ sourceId }: HoldDirectorySync, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide: ({ sync }, input) =>
    accept(
      sync?.syncId === input.syncId && sync.state === 'syncing' ? [{ type: 'DirectorySyncHeld', data: input }] : [],
    ),
  freshens: ['directory_sources', 'directory_syncs'],
});
