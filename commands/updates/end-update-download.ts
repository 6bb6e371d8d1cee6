import type { StoredBundle } from '../../src/contexts/updates/domain/events.ts';
import { softwareUpdate, softwareUpdateStream } from '../../src/contexts/updates/domain/software-update.ts';
import { isNewerThan } from '../../src/contexts/updates/domain/software-version.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndUpdateDownload {
  readonly downloadId: string;
  /** A bundle whose bytes are stored and whose signature was checked, or why there is none, in fixed words. */
  readonly outcome: StoredBundle | { readonly failure: string };
  readonly runningVersion: string;
}

interface EndedDownload {
  /** False: the stored bytes are not needed. */
  readonly isStaged: boolean;
  /** The bundle that was staged before. */
  readonly replaced: string | undefined;
}

/**
 * Stages the downloaded bundle and ends the download, in one append. The first outcome counts: a second process that
 * downloaded the same stages nothing.
 */
export const endUpdateDownload = defineCommand({
  name: 'EndUpdateDownload',
  aggregate: softwareUpdate,
  stream: (_input: EndUpdateDownload) => softwareUpdateStream(),
  decide({ download, underWay, installedVersion, staged }, { downloadId, outcome, runningVersion }, { now }) {
    const unused: EndedDownload = { isStaged: false, replaced: undefined };
    if (download?.downloadId !== downloadId || download.hasEnded) return acceptWith(unused, []);
    const { version } = download;
    const ended = (failure: string | null) => ({
      type: 'UpdateDownloadEnded' as const,
      data: { downloadId, version, endedAt: new Date(now).toISOString(), failure },
    });
    if ('failure' in outcome) return acceptWith(unused, [ended(outcome.failure)]);
    if (underWay) return acceptWith(unused, [ended('another update began in the meantime')]);
    if (!isNewerThan(outcome.version, runningVersion, installedVersion))
      return acceptWith(unused, [ended('the version is not newer than the installed one any more')]);
    const result: EndedDownload = { isStaged: true, replaced: staged?.bundleId };
    return acceptWith(result, [{ type: 'UpdateStaged' as const, data: { bundle: outcome } }, ended(null)]);
  },
  freshens: ['software_updates'],
});
