import {
  rollout,
  rolloutSlotClaim,
  rolloutStream,
  shownRollout,
} from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteExtensionRollout {
  readonly rolloutId: string;
}

/** Only drafts: a rollout that was started stays in the history, and a completed one still directs devices. */
export const deleteExtensionRollout = defineCommand({
  name: 'DeleteExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: DeleteExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide({ status, slot }, { rolloutId }) {
    if (status === 'none') return notFound();
    if (status !== 'draft') return conflict('rollout_state');
    return accept([{ type: 'ExtensionRolloutDeleted', data: { rolloutId } }], { release: [rolloutSlotClaim(slot)] });
  },
  shown: shownRollout,
  freshens: ['extension_rollouts'],
});
