import {
  offboarding,
  offboardingSteps,
  offboardingStream,
  type OffboardingEvent,
  type OffboardingStep,
} from '../../src/contexts/employees/domain/offboarding.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordOffboardingSteps {
  readonly userId: string;
  readonly offboardingId: string;
  readonly steps: readonly {
    readonly step: OffboardingStep;
    /** How many keys, tokens or devices the step concerned. */
    readonly count: number;
  }[];
}

/** Records that steps were carried out, each once. The last one completes the offboarding. */
export const recordOffboardingSteps = defineCommand({
  name: 'RecordOffboardingSteps',
  aggregate: offboarding,
  stream: ({ userId }: RecordOffboardingSteps, { tenantId }) => offboardingStream(tenantId, userId),
  decide(state, { userId, offboardingId, steps }) {
    if (state.status !== 'running' || state.offboardingId !== offboardingId) return accept([]);
    const added = steps.filter(({ step }) => !state.steps.includes(step));
    const done = [...state.steps, ...added.map(({ step }) => step)];
    const events: OffboardingEvent[] = added.map(({ step, count }) => ({
      type: 'OffboardingStepCompleted',
      data: { offboardingId, userId, step, count },
    }));
    if (added.length > 0 && offboardingSteps.every((each) => done.includes(each)))
      events.push({ type: 'OffboardingCompleted', data: { offboardingId, userId } });
    return accept(events);
  },
  freshens: ['offboardings'],
});
