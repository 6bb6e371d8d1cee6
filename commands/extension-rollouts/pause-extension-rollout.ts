import { rollout, rolloutStream, shownRollout } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface PauseExtensionRollout {
  readonly rolloutId: string;
}

/** No further device moves on. Those with the new version keep it. */
export const pauseExtensionRollout = defineCommand({
  name: 'PauseExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: PauseExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide({ status, stage }, { rolloutId }, { now }) {
    if (status === 'none') return notFound();
    if (status !== 'active') return conflict('rollout_state');
    const decidedAt = new Date(now).toISOString();
    return accept([{ type: 'ExtensionRolloutPaused', data: { rolloutId, decidedAt, stage } }]);
  },
  shown: shownRollout,
  freshens: ['extension_rollouts', 'live-state'],
});
