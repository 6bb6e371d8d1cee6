import { judge } from '../../src/contexts/extension-rollouts/domain/error-rates.ts';
import type { RolloutFigures } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { nextStage } from '../../src/contexts/extension-rollouts/domain/next-stage.ts';
import { rollout, rolloutStream } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface JudgeExtensionRollout {
  readonly rolloutId: string;
  /** Where the rollout was when the figures were read. */
  readonly round: number;
  readonly stage: number;
  readonly figures: RolloutFigures;
}

/**
 * Halts the rollout or begins its next stage, if the figures say so. Figures of an earlier round or stage decide
 * nothing, so a repetition of the command, or a second process with the same figures, has no effect.
 */
export const judgeExtensionRollout = defineCommand({
  name: 'JudgeExtensionRollout',
  aggregate: rollout,
  stream: ({ rolloutId }: JudgeExtensionRollout, { tenantId }) => rolloutStream(tenantId, rolloutId),
  decide(state, { rolloutId, round, stage, figures }, { now }) {
    const { content } = state;
    if (state.status !== 'active' || state.round !== round || state.stage !== stage) return accept([]);
    const soakedMs = now - state.stageSince;
    const verdict = judge({ figures, rule: content.halt, stage: content.stages[stage]!, soakedMs });
    if (verdict === 'wait') return accept([]);
    if (verdict === 'advance') return nextStage(state, rolloutId, now, figures);
    const { version, halt: rule, returnsOnHalt, rollbackVersion } = content;
    const returnsTo = returnsOnHalt ? rollbackVersion : null;
    const decidedAt = new Date(now).toISOString();
    return accept([
      {
        type: 'ExtensionRolloutHalted',
        data: { rolloutId, decidedAt, version, stage, round, rule, figures, returnsTo },
      },
    ]);
  },
  freshens: ['extension_rollouts', 'live-state'],
});
