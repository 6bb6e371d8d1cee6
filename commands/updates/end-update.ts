import { softwareUpdate, softwareUpdateStream } from '../../src/contexts/updates/domain/software-update.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface EndUpdate {
  readonly updateId: string;
  readonly hasSucceeded: boolean;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly output: string | null;
}

/** Records the outcome. The first one counts: the command's, or what a later process found out. */
export const endUpdate = defineCommand({
  name: 'EndUpdate',
  aggregate: softwareUpdate,
  stream: (_input: EndUpdate) => softwareUpdateStream(),
  decide({ underWay }, input, { now }) {
    if (underWay?.updateId !== input.updateId) return accept([]);
    const { action, fromVersion, toVersion } = underWay;
    const endedAt = new Date(now).toISOString();
    return accept([{ type: 'UpdateEnded', data: { ...input, action, fromVersion, toVersion, endedAt } }]);
  },
  freshens: ['software_updates', 'software_update_history'],
});
