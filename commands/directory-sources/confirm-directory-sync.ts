import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface ConfirmDirectorySync {
  readonly sourceId: string;
  readonly syncId: string;
}

/** Lets a held synchronization deactivate the people of its plan. */
export const confirmDirectorySync = defineCommand({
  name: 'ConfirmDirectorySync',
  aggregate: directorySource,
  stream: ({ sourceId }: ConfirmDirectorySync, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide({ source, sync }, { sourceId, syncId }) {
    if (!source) return notFound();
    const isHeld = sync?.syncId === syncId && sync.state === 'awaiting_confirmation';
    if (!isHeld) return conflict('directory_nothing_to_confirm');
    return accept([{ type: 'DirectorySyncConfirmed', data: { sourceId, syncId } }]);
  },
  freshens: ['directory_sources', 'directory_syncs'],
});
