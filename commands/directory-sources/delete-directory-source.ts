import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteDirectorySource {
  readonly sourceId: string;
}

/** People and groups of the source stay; a reaction gives them to administrators. */
export const deleteDirectorySource = defineCommand({
  name: 'DeleteDirectorySource',
  aggregate: directorySource,
  stream: ({ sourceId }: DeleteDirectorySource, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide({ source, sync }, { sourceId }) {
    if (!source) return notFound();
    if (sync?.state === 'syncing') return conflict('directory_syncing');
    return accept([{ type: 'DirectorySourceDeleted', data: { sourceId } }], { forget: [source.secretRef] });
  },
  freshens: ['directory_sources', 'directory_syncs'],
});
