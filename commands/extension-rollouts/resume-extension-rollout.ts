import { rollout, rolloutStream, shownRollout } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface ResumeExtensionRollout {
  readonly rolloutId: string;
}

/** Goes on in the same stage after a pause or a halt. Errors and soak time are counted from here. */
export const resumeExtensionRollout = defineCommand({
  name: 'ResumeExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: ResumeExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide({ status, stage, round }, { rolloutId }, { now }) {
    if (status === 'none') return notFound();
    if (status !== 'paused' && status !== 'halted') return conflict('rollout_state');
    const decidedAt = new Date(now).toISOString();
    return accept([{ type: 'ExtensionRolloutResumed', data: { rolloutId, decidedAt, stage, round: round + 1 } }]);
  },
  shown: shownRollout,
  freshens: ['extension_rollouts', 'live-state'],
});
