import { z } from 'zod';
import type { SoftwareUpdateRow } from '../../projections/updates/software-updates.ts';
import {
  isDownloading,
  NO_UPDATES,
  updateStates,
  updateStatusAt,
} from '../../src/contexts/updates/domain/software-update.ts';
import type { SoftwareUpdateState } from '../../src/contexts/updates/domain/software-update.ts';
import { isNewerThan } from '../../src/contexts/updates/domain/software-version.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-208; `stagedVersion` is an addition. */
export const updateInfoView = z.object({
  currentVersion: z.string().describe('The version that runs'),
  availableVersion: z.string().nullable().describe('The version that the feed named, if it is newer'),
  state: z.enum(updateStates),
  releaseNotes: z.string().nullable().describe('Of the available version'),
  lastCheckedAt: z.iso.datetime().nullable(),
  stagedVersion: z.string().nullable().describe('The version that `apply` would install'),
  rollbackVersion: z.string().nullable().describe('The version that `rollback` would install'),
  download: z
    .object({
      version: z.string(),
      state: z.enum(['running', 'failed']),
      startedAt: z.iso.datetime(),
      failure: z.string().nullable(),
    })
    .nullable()
    .describe('Of the announced bundle; null once it is staged'),
});
type UpdateInfoView = z.output<typeof updateInfoView>;

const NO_END = 'the download did not end in its time';

/** `now` in epoch milliseconds. Ask it for the installation. */
export const updateInfo: Query<{ runningVersion: string; now: number }, UpdateInfoView> = async (
  reads,
  { runningVersion, now },
) => {
  const row = await reads.one<SoftwareUpdateRow>('select state from software_updates where tenant_id = $1');
  const state = row?.state ?? NO_UPDATES;
  const { found, lastCheckedAt, staged, previous, installedVersion } = state;
  const available = found && isNewerThan(found.version, runningVersion, installedVersion) ? found : undefined;
  const status = updateStatusAt(state, now);
  return {
    currentVersion: runningVersion,
    availableVersion: available?.version ?? null,
    // What was available may have been installed by other means.
    state: status === 'available' && !available ? 'idle' : status,
    releaseNotes: available?.releaseNotes ?? null,
    lastCheckedAt,
    stagedVersion: staged?.version ?? null,
    rollbackVersion: previous?.version ?? null,
    download: downloadAt(state, now),
  };
};

/** A download whose process died has failed when its time has passed. */
function downloadAt(state: SoftwareUpdateState, now: number): UpdateInfoView['download'] {
  if (!state.download) return null;
  const { version, begunAt: startedAt, failure } = state.download;
  if (isDownloading(state, now)) return { version, state: 'running', startedAt, failure: null };
  return { version, state: 'failed', startedAt, failure: failure ?? NO_END };
}
