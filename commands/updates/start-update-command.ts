import type { SoftwareUpdateEvent } from '../../src/contexts/updates/domain/events.ts';
import {
  softwareUpdate,
  softwareUpdateStream,
  type UpdateUnderWay,
} from '../../src/contexts/updates/domain/software-update.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface StartUpdateCommand {
  readonly updateId: string;
  /** Milliseconds that the command may take. */
  readonly withinMs: number;
}

interface StartedUpdate {
  /** Undefined: another process runs the command, or the update has ended. */
  readonly toRun: UpdateUnderWay | undefined;
}

/** From the command's deadline to the moment when its outcome is given up: time to stop it and to record that. */
const GRACE_MS = 15_000;

/**
 * Recorded before the operator's command runs. Only the first caller may run it: jobs run at least once, and the
 * command of an operator must not run twice.
 */
export const startUpdateCommand = defineCommand({
  name: 'StartUpdateCommand',
  aggregate: softwareUpdate,
  stream: (_input: StartUpdateCommand) => softwareUpdateStream(),
  decide({ underWay }, { updateId, withinMs }, { now }) {
    if (underWay?.updateId !== updateId || underWay.startedAt !== null)
      return acceptWith<never, StartedUpdate>({ toRun: undefined }, []);
    const startedAt = new Date(now).toISOString();
    const until = new Date(now + withinMs + GRACE_MS).toISOString();
    return acceptWith<Extract<SoftwareUpdateEvent, { type: 'UpdateCommandStarted' }>, StartedUpdate>(
      { toRun: underWay },
      [{ type: 'UpdateCommandStarted', data: { updateId, startedAt, until } }],
    );
  },
});
