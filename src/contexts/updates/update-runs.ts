import { join } from 'node:path';
import type { CommandPorts } from '../../../commands/ports.ts';
import { endUpdate, type EndUpdate } from '../../../commands/updates/end-update.ts';
import { startUpdateCommand } from '../../../commands/updates/start-update-command.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../platform/kernel/ids.ts';
import { BundleDamaged, type BundleStore } from './bundle-store.ts';
import { bundlesInUse, softwareUpdate, softwareUpdateStream, type UpdateUnderWay } from './domain/software-update.ts';
import type { UpdateSettings } from './domain/update-settings.ts';
import { runProgram, type ProgramRun } from './run-program.ts';

export interface UpdateRunsPorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: Pick<AggregateLoader, 'load'>;
  readonly bundles: BundleStore;
  readonly settings: UpdateSettings;
  readonly dataDir: string;
}

/** Carries out updates that were begun, and finds out what became of those whose process ended. */
export class UpdateRuns {
  readonly #ports: UpdateRunsPorts;
  /** Since when this process runs its version. */
  readonly #bornAt = Date.now();

  constructor(ports: UpdateRunsPorts) {
    this.#ports = ports;
  }

  /** Runs the operator's command, at most once for an update in the whole installation. */
  async run(updateId: string, correlationId: string): Promise<void> {
    const { executor, settings } = this.#ports;
    const { command, commandMs: withinMs } = settings;
    const execution = { tenantId: INSTALLATION, actor: system('updates'), correlationId };
    const { result } = orThrow(await executor.execute(startUpdateCommand, { updateId, withinMs }, execution));
    if (!result.toRun) return;
    const run = command
      ? await this.#runCommand(command, result.toRun)
      : { exitCode: null, reason: 'this process has no UPDATE_COMMAND', output: '' };
    await this.#end({ updateId, hasSucceeded: run.reason === null, ...run, output: run.output || null });
  }

  async #runCommand(command: NonNullable<UpdateSettings['command']>, update: UpdateUnderWay): Promise<ProgramRun> {
    const { bundles, dataDir, settings } = this.#ports;
    const { action, bundle, fromVersion, toVersion } = update;
    const runWith = (path: string | undefined) =>
      runProgram({
        argv: [...command, action, toVersion, ...(path === undefined ? [] : [path])],
        environment: {
          UPDATE_ACTION: action,
          UPDATE_FROM_VERSION: fromVersion,
          UPDATE_TO_VERSION: toVersion,
          ...(path === undefined ? {} : { UPDATE_BUNDLE: path }),
        },
        withinMs: settings.commandMs,
        folder: join(dataDir, 'updates'),
      });
    try {
      return bundle ? await bundles.withFile(bundle, runWith) : await runWith(undefined);
    } catch (error) {
      const reason = error instanceof BundleDamaged ? error.message : 'the bundle could not be read';
      return { exitCode: null, reason, output: '' };
    }
  }

  /**
   * Ends an update whose process can no longer do it. If this process was started with the new version after the command,
   * the update has succeeded.
   * After its time, it has failed: nobody knows how far the command came, so it is not run again. Also deletes bundles
   * that are not in use.
   */
  async settle(now = Date.now()): Promise<void> {
    const { aggregates, bundles, settings } = this.#ports;
    const state = await aggregates.load(softwareUpdate, softwareUpdateStream());
    const { underWay } = state;
    const wasReplaced =
      underWay?.toVersion === settings.runningVersion &&
      underWay.startedAt !== null &&
      Date.parse(underWay.startedAt) < this.#bornAt;
    if (wasReplaced) await this.#end(inferred(underWay, true, 'a process with the new version has started'));
    else if (underWay && now > Date.parse(underWay.until))
      await this.#end(inferred(underWay, false, 'the process ended before the command, and its outcome is unknown'));
    await bundles.sweep(bundlesInUse(state), now);
  }

  async #end(outcome: EndUpdate): Promise<void> {
    const execution = { tenantId: INSTALLATION, actor: system('updates') };
    orThrow(await this.#ports.executor.execute(endUpdate, outcome, execution));
  }
}

const inferred = ({ updateId }: UpdateUnderWay, hasSucceeded: boolean, reason: string): EndUpdate => ({
  updateId,
  hasSucceeded,
  exitCode: null,
  reason,
  output: null,
});
