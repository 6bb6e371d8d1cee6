import { isDeepStrictEqual } from 'node:util';
import { rollout, rolloutStream, shownRollout } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { contradiction, type RolloutChanges } from '../../src/contexts/extension-rollouts/domain/rollout-content.ts';
import type { RolloutContent } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates } from '../ports.ts';
import { groupsIn, unknownGroupIn } from './unknown-group.ts';

interface ChangeExtensionRollout {
  readonly rolloutId: string;
  /** Omitted fields keep their value. */
  readonly changes: RolloutChanges;
}

/** Only drafts change: a rollout that devices were sent is not redefined later. */
export const changeExtensionRollout = defineCommand({
  name: 'ChangeExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: ChangeExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  names: ({ changes: { stages = [] } }) => groupsIn(stages),
  prepare: async (
    { changes: { stages = [] } }: ChangeExtensionRollout,
    { aggregates }: WithAggregates,
    { tenantId },
  ) => ({
    refused: await unknownGroupIn(stages, aggregates, tenantId),
  }),
  decide(state, { rolloutId, changes }, _context, { refused }) {
    if (state.status === 'none') return notFound();
    if (state.status !== 'draft') return conflict('rollout_state');
    if (refused) return refused;
    const changed = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const content: RolloutContent = { ...state.content, ...changed };
    const contradictory = contradiction(content);
    if (contradictory) return contradictory;
    if (isDeepStrictEqual(content, state.content)) return accept([]);
    return accept([{ type: 'ExtensionRolloutChanged', data: { rolloutId, content } }]);
  },
  shown: shownRollout,
  freshens: ['extension_rollouts'],
});
