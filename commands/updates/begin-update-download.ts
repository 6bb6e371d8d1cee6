import {
  isDownloading,
  softwareUpdate,
  softwareUpdateStream,
} from '../../src/contexts/updates/domain/software-update.ts';
import { isNewerThan } from '../../src/contexts/updates/domain/software-version.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

interface BeginUpdateDownload {
  readonly version: string;
  readonly runningVersion: string;
}

/** All attempts of the job together. */
const DOWNLOAD_MS = 45 * 60_000;

/** Begins to download the announced bundle. Nothing happens if that is under way, or this version is staged. */
export const beginUpdateDownload = defineCommand({
  name: 'BeginUpdateDownload',
  aggregate: softwareUpdate,
  stream: (_input: BeginUpdateDownload) => softwareUpdateStream(),
  decide(state, { version, runningVersion }, { id: downloadId, now }) {
    if (state.underWay) return conflict('update_under_way');
    if (!isNewerThan(version, runningVersion, state.installedVersion)) return conflict('update_not_newer');
    if (isDownloading(state, now) || state.staged?.version === version) return accept([]);
    const begunAt = new Date(now).toISOString();
    const until = new Date(now + DOWNLOAD_MS).toISOString();
    return accept([{ type: 'UpdateDownloadBegun', data: { downloadId, version, begunAt, until } }]);
  },
  freshens: ['software_updates'],
});
