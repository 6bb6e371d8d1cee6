import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import type { SyncCounts, SyncOutcome } from '../../src/contexts/directory-sources/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndDirectorySync {
  readonly sourceId: string;
  readonly syncId: string;
  readonly outcome: Exclude<SyncOutcome, 'superseded'>;
  readonly reason: string | null;
  readonly counts: SyncCounts;
}

/** The receipt of a synchronization. Idempotent. */
export const endDirectorySync = defineCommand({
  name: 'EndDirectorySync',
  aggregate: directorySource,
  stream: ({ sourceId }: EndDirectorySync, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide: ({ sync }, input) =>
    accept(
      sync?.syncId === input.syncId && sync.state === 'syncing' ? [{ type: 'DirectorySyncEnded', data: input }] : [],
    ),
  freshens: ['directory_sources', 'directory_syncs'],
});
