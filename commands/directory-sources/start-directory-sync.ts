import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import type { DirectorySourceEvent } from '../../src/contexts/directory-sources/domain/events.ts';
import { NOTHING_SYNCED } from '../../src/contexts/directory-sources/domain/sync-counts.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface StartDirectorySync {
  readonly sourceId: string;
  readonly trigger: 'manual' | 'schedule';
  readonly isDryRun: boolean;
}

/**
 * Begins a synchronization, whose id is that of the command. The stream allows one at a time in the whole cluster. An
 * administrator's replaces one that waits for a confirmation; a scheduled one does not.
 */
export const startDirectorySync = defineCommand({
  name: 'StartDirectorySync',
  aggregate: directorySource,
  stream: ({ sourceId }: StartDirectorySync, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide({ source, sync }, { sourceId, trigger, isDryRun }, { id: syncId }) {
    if (!source) return notFound();
    if (!source.isEnabled) return conflict('directory_disabled');
    if (sync?.state === 'syncing') return conflict('directory_syncing');
    if (sync && trigger === 'schedule') return conflict('directory_awaits_confirmation');
    const replaced: DirectorySourceEvent[] = sync
      ? [
          {
            type: 'DirectorySyncEnded',
            data: { sourceId, syncId: sync.syncId, outcome: 'superseded', reason: null, counts: NOTHING_SYNCED },
          },
        ]
      : [];
    return acceptWith({ syncId }, [
      ...replaced,
      { type: 'DirectorySyncStarted', data: { sourceId, syncId, trigger, isDryRun } },
    ]);
  },
  freshens: ['directory_sources', 'directory_syncs'],
});
