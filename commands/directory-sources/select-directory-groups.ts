import { isDeepStrictEqual } from 'node:util';
import {
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface SelectDirectoryGroups {
  readonly sourceId: string;
  /** All groups to synchronize, by their ids at the directory. */
  readonly groupIds: readonly string[];
}

export const selectDirectoryGroups = defineCommand({
  name: 'SelectDirectoryGroups',
  aggregate: directorySource,
  stream: ({ sourceId }: SelectDirectoryGroups, { tenantId }) => directorySourceStream(tenantId, sourceId),
  decide(state, { sourceId, groupIds }) {
    if (!state.source) return notFound();
    const wanted = [...new Set(groupIds)];
    if (isDeepStrictEqual(wanted, state.groupIds)) return accept([]);
    return accept([{ type: 'DirectoryGroupsSelected', data: { sourceId, groupIds: wanted } }]);
  },
  freshens: ['directory_sources'],
});
