import {
  isLive,
  releasedAtEnd,
  rollout,
  rolloutStream,
  shownRollout,
} from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface RollBackExtensionRollout {
  readonly rolloutId: string;
}

/** Ends the rollout. Devices with its version return to the earlier one, if it names one. Also after completion. */
export const rollBackExtensionRollout = defineCommand({
  name: 'RollBackExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: RollBackExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide(state, { rolloutId }, { now }) {
    const { status, stage, content } = state;
    if (status === 'none') return notFound();
    if (!isLive(status) && status !== 'completed') return conflict('rollout_state');
    const ended = {
      rolloutId,
      decidedAt: new Date(now).toISOString(),
      stage,
      returnsTo: content.rollbackVersion,
    };
    // A completed rollout has given up its claims.
    return accept([{ type: 'ExtensionRolloutRolledBack', data: ended }], {
      release: isLive(status) ? releasedAtEnd(state) : [],
    });
  },
  shown: shownRollout,
  freshens: ['extension_rollouts', 'live-state'],
});
