import { randomUUID } from 'node:crypto';
import { endDirectorySync } from '../../../commands/directory-sources/end-directory-sync.ts';
import { holdDirectorySync } from '../../../commands/directory-sources/hold-directory-sync.ts';
import { JobFailed } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import { FailureError, orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { applyPlan } from './apply-plan.ts';
import {
  directorySource,
  directorySourceStream,
  needsConfirmation,
  type DirectorySourceState,
} from './domain/directory-source.ts';
import type { SyncCounts } from './domain/events.ts';
import { NOTHING_SYNCED } from './domain/sync-counts.ts';
import { awaitReadModels, decidedPeople, planSync } from './plan-sync.ts';
import { planGroups } from './plan-groups.ts';
import { readDirectory } from './read-directory.ts';
import { DirectoryFailed, type DirectoryPerson, type DirectoryReader } from './domain/directory-reader.ts';
import { Staging } from './staging.ts';
import { RENEWED_EVERY_MS, SyncHeldElsewhere } from './sync-hold.ts';
import { syncGroups } from './sync-groups.ts';
import type { SyncPorts, SyncRun } from './sync-ports.ts';
import { withheldReason } from './withheld-groups.ts';

export interface SyncAttempt {
  readonly tenantId: TenantId;
  readonly sourceId: string;
  readonly syncId: string;
  readonly correlationId: string;
  readonly isLastAttempt: boolean;
  readonly signal: AbortSignal;
}

/**
 * Synchronizes directories: reads all of one, plans, and carries the plan out. Only a directory that was read to its
 * end is planned from. An attempt that is killed is continued by the next.
 */
export class DirectorySyncs {
  readonly #ports: SyncPorts;

  constructor(ports: SyncPorts) {
    this.#ports = ports;
  }

  async attempt(attempt: SyncAttempt): Promise<void> {
    const { tenantId, sourceId, syncId, correlationId, signal, isLastAttempt } = attempt;
    const state = await this.#load(tenantId, sourceId);
    if (!isOpen(state, syncId)) return;
    const run: SyncRun = {
      tenantId,
      sourceId,
      syncId,
      signal,
      source: { kind: 'directory', id: sourceId },
      execution: { tenantId, actor: system('directory-sync'), correlationId },
    };
    const staging = new Staging(this.#ports.pool, tenantId, syncId, randomUUID());
    let phase;
    try {
      phase = await staging.take();
    } catch (error) {
      throw error instanceof SyncHeldElsewhere ? new JobFailed('another attempt is at work', { cause: error }) : error;
    }
    const lost = new AbortController();
    const renewed = async () => {
      await staging.renew();
      await this.#refuseSwitchedOff(run);
    };
    const heartbeat = setInterval(
      () =>
        void renewed().catch((error: unknown) => {
          if (error instanceof SyncHeldElsewhere || error instanceof DirectoryFailed) lost.abort(error);
        }),
      RENEWED_EVERY_MS,
    );
    try {
      const whileHeld = { ...run, signal: AbortSignal.any([signal, lost.signal]) };
      await this.#synchronize(whileHeld, state, staging, phase === 'applying');
    } catch (error) {
      const reason = lastingReason(error, isLastAttempt);
      if (reason === undefined)
        throw error instanceof DirectoryFailed ? new JobFailed(error.message, { cause: error }) : error;
      await this.#end(run, staging, 'failed', NOTHING_SYNCED, reason);
    } finally {
      clearInterval(heartbeat);
      await staging.release().catch(() => undefined);
    }
  }

  async #synchronize(run: SyncRun, state: DirectorySourceState, staging: Staging, isPlanned: boolean): Promise<void> {
    const { readers } = this.#ports;
    const reader = await readers.open(run.tenantId, run.sourceId);
    if (!reader) return;
    try {
      const isRead = isPlanned && (await staging.readGroups()) !== undefined;
      const counts = isRead ? await staging.counts() : await this.#planned(run, state, staging, reader);
      if (!counts) return;
      // Whoever was chosen, or came back, since the directory was read has no members here.
      const read = (await staging.readGroups()) ?? { selected: new Map<string, string>(), withheld: [] };
      await applyPlan(this.#ports, run, staging, counts);
      const { refusal, ...groups } = await syncGroups(this.#ports, run, staging, read);
      const done = { ...counts, ...(await staging.carriedOut(counts)), ...groups };
      const reason = refusal ?? withheldReason(read.withheld);
      await this.#end(run, staging, refusal === undefined ? 'succeeded' : 'failed', done, reason);
    } finally {
      await reader.close();
    }
  }

  /** Undefined: nothing is to be carried out now. */
  async #planned(
    run: SyncRun,
    { source, sync, groupIds }: DirectorySourceState,
    staging: Staging,
    reader: DirectoryReader,
  ): Promise<SyncCounts | undefined> {
    // A confirmation covers the people who were shown. If the directory has lost more since, it is asked for again.
    await staging.clear(sync!.isConfirmed);
    await awaitReadModels(this.#ports);
    const decided = (page: readonly DirectoryPerson[]) => decidedPeople(this.#ports, run, page);
    const selected = () => reader.groupNames(groupIds);
    const { people, groups } = await readDirectory({ reader, selected, staging, signal: run.signal, decided });
    const { counts, linkedPeople } = await planSync(this.#ports, run, staging);
    if (people === 0 && linkedPeople > 0) throw new DirectoryFailed('the directory lists nobody');
    const withGroups = async () => ({
      ...counts,
      ...(await planGroups(this.#ports, run, staging, groups)),
    });
    if (sync!.isDryRun) {
      await this.#end(run, staging, 'planned', await withGroups(), withheldReason(groups.withheld));
      return undefined;
    }
    const isHeld = needsConfirmation(counts.deactivated, linkedPeople, source!.maxDeactivationShare);
    if (isHeld && (await staging.unseenDeactivations()) > 0) {
      await staging.show();
      const { sourceId, syncId } = run;
      const held = {
        sourceId,
        syncId,
        linkedPeople,
        deactivations: counts.deactivated,
        counts: await withGroups(),
      };
      orThrow(await this.#ports.executor.execute(holdDirectorySync, held, run.execution));
      return undefined;
    }
    await this.#refuseSwitchedOff(run);
    await staging.enter('applying', counts);
    return counts;
  }

  /** Throws if an administrator has switched the source off, or removed it, since the synchronization began. */
  async #refuseSwitchedOff({ tenantId, sourceId }: Pick<SyncRun, 'tenantId' | 'sourceId'>): Promise<void> {
    const { source } = await this.#load(tenantId, sourceId);
    if (source?.isEnabled !== true) throw new DirectoryFailed('the source was switched off', { isLasting: true });
  }

  async #end(
    { sourceId, syncId, execution }: SyncRun,
    staging: Staging,
    outcome: 'succeeded' | 'failed' | 'planned',
    counts: SyncCounts,
    reason: string | null,
  ): Promise<void> {
    orThrow(
      await this.#ports.executor.execute(endDirectorySync, { sourceId, syncId, outcome, reason, counts }, execution),
    );
    await staging.enter('ended', counts);
  }

  #load(tenantId: TenantId, sourceId: string): Promise<DirectorySourceState> {
    return this.#ports.aggregates.load(directorySource, directorySourceStream(tenantId, sourceId));
  }
}

const isOpen = ({ source, sync }: DirectorySourceState, syncId: string): boolean =>
  source !== undefined && sync?.syncId === syncId && sync.state === 'syncing';

/** Why the synchronization has failed for good; undefined if another attempt may succeed. */
function lastingReason(error: unknown, isLastAttempt: boolean): string | undefined {
  if (error instanceof SyncHeldElsewhere) return undefined;
  if (error instanceof DirectoryFailed) return error.isLasting || isLastAttempt ? error.message : undefined;
  if (!isLastAttempt) return undefined;
  return error instanceof FailureError || error instanceof JobFailed ? error.message : 'an unexpected error';
}
