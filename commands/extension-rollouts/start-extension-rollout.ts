import {
  liveClaims,
  rollout,
  rolloutStream,
  shownRollout,
} from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface StartExtensionRollout {
  readonly rolloutId: string;
}

/** Begins the first stage. One live rollout at a time for each browser. */
export const startExtensionRollout = defineCommand({
  name: 'StartExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: StartExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide({ status, content }, { rolloutId }, { now }) {
    if (status === 'none') return notFound();
    if (status !== 'draft') return conflict('rollout_state');
    const decidedAt = new Date(now).toISOString();
    return accept([{ type: 'ExtensionRolloutStarted', data: { rolloutId, decidedAt, round: 1 } }], {
      claim: liveClaims(content),
    });
  },
  whenClaimed: () => conflict('rollout_overlaps'),
  shown: shownRollout,
  freshens: ['extension_rollouts', 'live-state'],
});
