import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { softwareUpdateEvents } from '../domain/events.ts';
import { updateRunning } from '../update-jobs.ts';

/** Without a command, an update has ended when the job looks at it, and the job does nothing. */
export const whenUpdateBegunRunIt = defineReaction({
  name: 'when-update-begun-run-it',
  lane: 'main',
  families: [softwareUpdateEvents],
  on: { UpdateBegun: ({ data: { updateId } }) => [{ effects: [enqueue(updateRunning, { updateId })] }] },
});
