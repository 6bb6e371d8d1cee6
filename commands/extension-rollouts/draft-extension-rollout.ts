import type { RolloutContent } from '../../src/contexts/extension-rollouts/domain/events.ts';
import {
  rollout,
  rolloutSlotClaim,
  rolloutSlots,
  rolloutStream,
} from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { contradiction } from '../../src/contexts/extension-rollouts/domain/rollout-content.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import { slotFor, type SlotPorts } from '../../src/platform/resources/slots.ts';
import type { WithAggregates } from '../ports.ts';
import { groupsIn, unknownGroupIn } from './unknown-group.ts';

interface DraftExtensionRollout {
  readonly content: RolloutContent;
  /** Hexadecimal, random. */
  readonly salt: string;
}

interface Facts {
  readonly slot: number;
}

/** The rollout's id is that of the command. */
export const draftExtensionRollout = defineCommand({
  name: 'DraftExtensionRollout',
  aggregate: rollout,
  stream: (_input: DraftExtensionRollout, { tenantId, id }) => rolloutStream(tenantId, id),
  names: ({ content }) => groupsIn(content.stages),
  begins: true,
  async prepare({ content }: DraftExtensionRollout, ports: WithAggregates & SlotPorts, { tenantId }) {
    const refused = contradiction(content) ?? (await unknownGroupIn(content.stages, ports.aggregates, tenantId));
    if (refused) return refused;
    const found = await slotFor(rolloutSlots, tenantId, ports);
    return isFailure(found) ? found : { slot: found.slot! };
  },
  decide(state, { content, salt }, { id: rolloutId }, { slot }: Facts) {
    // The command was repeated: the rollout exists.
    if (state.status !== 'none') return acceptWith({ rolloutId }, []);
    return acceptWith({ rolloutId }, [{ type: 'ExtensionRolloutDrafted', data: { rolloutId, slot, salt, content } }], {
      claim: [rolloutSlotClaim(slot)],
    });
  },
  whenClaimed: () => 'prepareAgain',
  recall: (_before, _events, _input, { id: rolloutId }) => ({ rolloutId }),
  freshens: ['extension_rollouts'],
});
