import type { UpdateAction } from '../../src/contexts/updates/domain/events.ts';
import {
  softwareUpdate,
  softwareUpdateStream,
  type SoftwareUpdateState,
} from '../../src/contexts/updates/domain/software-update.ts';
import { isNewerThan } from '../../src/contexts/updates/domain/software-version.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure } from '../../src/platform/kernel/failure.ts';

interface BeginUpdate {
  readonly action: UpdateAction;
  /** The version that the caller means; undefined: whichever is staged. */
  readonly version?: string | undefined;
  readonly runningVersion: string;
  /** Without a command, the operator does the work: the update is recorded as done. */
  readonly hasCommand: boolean;
}

/** A process takes the job within this time, or the update has failed. */
const START_MS = 10 * 60_000;

/** Begins to apply the staged version, or to go back to the version before. One at a time in the installation. */
export const beginUpdate = defineCommand({
  name: 'BeginUpdate',
  aggregate: softwareUpdate,
  stream: (_input: BeginUpdate) => softwareUpdateStream(),
  decide(state, { action, version, runningVersion, hasCommand }, { id: updateId, now }) {
    if (state.underWay) return conflict('update_under_way');
    const target = action === 'apply' ? stagedTarget(state, version, runningVersion) : previousTarget(state);
    if (isFailure(target)) return target;
    const fromVersion = action === 'apply' ? runningVersion : (state.installedVersion ?? runningVersion);
    const move = { updateId, action, fromVersion, toVersion: target.version };
    const begunAt = new Date(now).toISOString();
    const until = new Date(now + START_MS).toISOString();
    const begun = { type: 'UpdateBegun' as const, data: { ...move, bundle: target.bundle, begunAt, until } };
    if (hasCommand) return accept([begun]);
    const outcome = { hasSucceeded: true, endedAt: begunAt, exitCode: null, reason: null, output: null };
    return accept([begun, { type: 'UpdateEnded', data: { ...move, ...outcome } }]);
  },
  freshens: ['software_updates', 'software_update_history'],
});

function stagedTarget({ staged, installedVersion }: SoftwareUpdateState, version: string | undefined, running: string) {
  if (!staged) return conflict('nothing_staged');
  if (version !== undefined && version !== staged.version)
    return conflict('nothing_staged', `version ${staged.version} is staged`);
  // It may have been installed by other means since it was uploaded.
  if (!isNewerThan(staged.version, running, installedVersion)) return conflict('update_not_newer');
  return { version: staged.version, bundle: staged };
}

const previousTarget = ({ previous }: SoftwareUpdateState) => previous ?? conflict('nothing_to_roll_back');
