import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { softwareUpdateEvents } from '../domain/events.ts';
import { updateDownloading } from '../update-jobs.ts';

export const whenUpdateDownloadBegunFetchIt = defineReaction({
  name: 'when-update-download-begun-fetch-it',
  lane: 'main',
  families: [softwareUpdateEvents],
  on: {
    UpdateDownloadBegun: ({ data: { downloadId } }) => [{ effects: [enqueue(updateDownloading, { downloadId })] }],
  },
});
