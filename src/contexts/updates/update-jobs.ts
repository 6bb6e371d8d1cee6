import { z } from 'zod';
import { declareJob, defineJob, type AnyJob } from '../../platform/jobs/job.ts';
import { uuid } from '../../platform/kernel/ids.ts';
import { LONGEST_COMMAND_SECONDS } from './domain/update-settings.ts';
import type { UpdateDownloads } from './update-downloads.ts';
import type { UpdateRuns } from './update-runs.ts';

/** Repeated only until the command was started. */
export const updateRunning = declareJob({
  name: 'run-update',
  data: z.object({ updateId: uuid() }),
  attempts: 5,
  backoff: [1_000, 5_000, 30_000],
  timeoutMs: (LONGEST_COMMAND_SECONDS + 300) * 1_000,
});

export const updateSettling = declareJob({
  name: 'settle-updates',
  data: z.object({}),
  attempts: 2,
  backoff: { firstMs: 5_000, longestMs: 30_000 },
});

/** Each attempt begins anew. */
export const updateDownloading = declareJob({
  name: 'download-update',
  data: z.object({ downloadId: uuid() }),
  attempts: 3,
  backoff: [5_000, 60_000],
  timeoutMs: 11 * 60_000,
});

export const automaticDownloading = declareJob({
  name: 'download-announced-update',
  data: z.object({}),
  attempts: 1,
  backoff: { firstMs: 5_000, longestMs: 30_000 },
});

export const updateDownloadJobs = (downloads: Pick<UpdateDownloads, 'run' | 'beginAutomatically'>): AnyJob[] => [
  defineJob({ ...updateDownloading, handle: ({ downloadId }, context) => downloads.run(downloadId, context) }),
  defineJob({ ...automaticDownloading, handle: () => downloads.beginAutomatically() }),
];

export const updateJobs = (runs: Pick<UpdateRuns, 'run' | 'settle'>): AnyJob[] => [
  defineJob({ ...updateRunning, handle: ({ updateId }, { correlationId }) => runs.run(updateId, correlationId) }),
  defineJob({ ...updateSettling, handle: () => runs.settle() }),
];
