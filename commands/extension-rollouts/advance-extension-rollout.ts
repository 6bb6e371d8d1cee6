import { rollout, rolloutStream, shownRollout } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { nextStage } from '../../src/contexts/extension-rollouts/domain/next-stage.ts';
import { defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface AdvanceExtensionRollout {
  readonly rolloutId: string;
}

/** Begins the next stage, by hand. After the last one the rollout is complete: all devices get the version. */
export const advanceExtensionRollout = defineCommand({
  name: 'AdvanceExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: AdvanceExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide(state, { rolloutId }, { now }) {
    if (state.status === 'none') return notFound();
    return state.status === 'active' ? nextStage(state, rolloutId, now, null) : conflict('rollout_state');
  },
  shown: shownRollout,
  freshens: ['extension_rollouts', 'live-state'],
});
