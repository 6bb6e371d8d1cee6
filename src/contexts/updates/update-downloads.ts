import { randomUUID } from 'node:crypto';
import type { CommandPorts } from '../../../commands/ports.ts';
import { beginUpdateDownload } from '../../../commands/updates/begin-update-download.ts';
import { endUpdateDownload } from '../../../commands/updates/end-update-download.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { JobFailed, type JobContext } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import { FailureError, isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../platform/kernel/ids.ts';
import { OutboundRefused } from '../../platform/outbound/address-guard.ts';
import { DownloadRefused, type GuardedDownload } from '../../platform/outbound/guarded-download.ts';
import type { BundleStore } from './bundle-store.ts';
import type { StoredBundle } from './domain/events.ts';
import { bundleStatement, isSignedStatement, signatureOctets, updateKey } from './domain/signed-statements.ts';
import { isDownloading, softwareUpdate, softwareUpdateStream } from './domain/software-update.ts';
import type { UpdateSettings } from './domain/update-settings.ts';
import type { AnnouncedBundle, UpdateAnnouncements } from './update-announcements.ts';

/** Choice OP-210. */
export const MAX_BUNDLE_BYTES = 200 * 1024 * 1024;
/** Of one attempt. */
export const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

export interface UpdateDownloadsPorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: Pick<AggregateLoader, 'load'>;
  readonly announcements: UpdateAnnouncements;
  readonly bundles: BundleStore;
  readonly download: GuardedDownload;
  readonly settings: UpdateSettings;
}

/** Why the bundle cannot be used, in fixed words. Another attempt would not change it. */
class BundleRefused extends Error {}

/** Downloads the bundle that the feed announces, and stages it after the checks that an upload gets. */
export class UpdateDownloads {
  readonly #ports: UpdateDownloadsPorts;

  constructor(ports: UpdateDownloadsPorts) {
    this.#ports = ports;
  }

  /** Begins the download of a newer announced version, if the operator wants that without a request. */
  async beginAutomatically(now = Date.now()): Promise<void> {
    const { announcements, executor, settings } = this.#ports;
    if (!settings.downloadsAutomatically || !announcements.isConfigured) return;
    const found = await announcements.ask(now);
    if (!found.bundle) return;
    const { version } = found;
    const { runningVersion } = settings;
    const execution = { tenantId: INSTALLATION, actor: system('updates') };
    const begun = await executor.execute(beginUpdateDownload, { version, runningVersion }, execution);
    // Nothing newer, or an update is under way: the next run looks again.
    if (isFailure(begun) && begun.kind !== 'conflict') throw new FailureError(begun);
  }

  /**
   * Repeated from the beginning after a kill: a bundle is staged only when it is there as a whole. What an earlier
   * attempt left behind is swept. The feed is asked again, so that no address has to be stored.
   */
  async run(downloadId: string, { signal, isLastAttempt, correlationId }: JobContext): Promise<void> {
    const { aggregates } = this.#ports;
    const state = await aggregates.load(softwareUpdate, softwareUpdateStream());
    if (state.download?.downloadId !== downloadId || !isDownloading(state, Date.now())) return;
    const { version } = state.download;
    const bundleId = randomUUID();
    let isStaged = false;
    try {
      const bundle = await this.#fetched(version, bundleId, signal);
      isStaged = await this.#end(downloadId, bundle, correlationId);
    } catch (error) {
      const reason = lastingReason(error);
      if (reason === undefined && !isLastAttempt) throw new JobFailed('the bundle could not be downloaded');
      await this.#end(downloadId, { failure: reason ?? 'the bundle could not be downloaded' }, correlationId);
    } finally {
      // What cannot be deleted now is swept later.
      if (!isStaged) await this.#ports.bundles.delete(bundleId).catch(() => undefined);
    }
  }

  async #fetched(version: string, bundleId: string, signal: AbortSignal): Promise<StoredBundle> {
    const { announcements, bundles, download } = this.#ports;
    const found = await announcements.ask(Date.now());
    if (found.version !== version) throw new BundleRefused('the feed names another version by now');
    if (!found.bundle) throw new BundleRefused('the feed names no bundle by now');
    const stored = await download(found.bundle.url, (body) => bundles.put(bundleId, body), signal);
    if (stored.bytes === 0) throw new BundleRefused('the bundle is empty');
    if (stored.sha256 !== found.bundle.sha256) throw new BundleRefused('the bundle does not have the announced digest');
    this.#checkSignature(version, found.bundle);
    return { ...stored, version, isSigned: true };
  }

  /** A download has no administrator who vouches for it, so an unsigned bundle is refused whatever is configured. */
  #checkSignature(version: string, { sha256, signature }: AnnouncedBundle): void {
    const { publicKey } = this.#ports.settings;
    const octets = signatureOctets(signature);
    const isGood =
      publicKey !== undefined &&
      octets !== undefined &&
      isSignedStatement(updateKey(publicKey), bundleStatement(version, sha256), octets);
    if (!isGood) throw new BundleRefused('the signature does not belong to this version and file');
  }

  async #end(
    downloadId: string,
    outcome: StoredBundle | { readonly failure: string },
    correlationId: string,
  ): Promise<boolean> {
    const { executor, bundles, settings } = this.#ports;
    const { runningVersion } = settings;
    const execution = { tenantId: INSTALLATION, actor: system('updates'), correlationId };
    const { result } = orThrow(
      await executor.execute(endUpdateDownload, { downloadId, outcome, runningVersion }, execution),
    );
    if (result.replaced) await bundles.delete(result.replaced).catch(() => undefined);
    return result.isStaged;
  }
}

/** Undefined: another attempt may succeed. */
function lastingReason(error: unknown): string | undefined {
  if (error instanceof BundleRefused) return error.message;
  if (error instanceof OutboundRefused) return `the address of the bundle was refused: ${error.message}`;
  if (error instanceof DownloadRefused) return error.isPassing ? undefined : error.message;
  return undefined;
}
