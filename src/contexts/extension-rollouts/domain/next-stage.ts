import { accept, type Decision } from '../../../platform/kernel/command.ts';
import type { ExtensionRolloutEvent, RolloutFigures } from './events.ts';
import { releasedAtEnd, type RolloutState } from './rollout.ts';

/** `figures` is null if an administrator decided. */
export function nextStage(
  state: RolloutState,
  rolloutId: string,
  now: number,
  figures: RolloutFigures | null,
): Decision<ExtensionRolloutEvent> {
  const decidedAt = new Date(now).toISOString();
  const isLast = state.stage + 1 >= state.content.stages.length;
  if (!isLast)
    return accept([
      { type: 'ExtensionRolloutAdvanced', data: { rolloutId, decidedAt, stage: state.stage + 1, figures } },
    ]);
  return accept([{ type: 'ExtensionRolloutCompleted', data: { rolloutId, decidedAt, stage: state.stage, figures } }], {
    release: releasedAtEnd(state),
  });
}
