import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { directorySourceEvents } from '../domain/events.ts';
import { sourceReleasing } from '../../employees/release-people.ts';

/** Nothing would ever change the people and groups of a source that is gone. */
export const whenDirectorySourceDeletedReleasePeople = defineReaction({
  name: 'when-directory-source-deleted-release-people',
  lane: 'main',
  families: [directorySourceEvents],
  on: {
    DirectorySourceDeleted: ({ tenantId, data: { sourceId } }) => [
      { effects: [enqueue(sourceReleasing, { tenantId, kind: 'directory', sourceId })] },
    ],
  },
});
