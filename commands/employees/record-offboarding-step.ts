import {
  offboarding,
  offboardingSteps,
  offboardingStream,
  type OffboardingEvent,
  type OffboardingStep,
} from '../../src/contexts/employees/domain/offboarding.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordOffboardingStep {
  readonly userId: string;
  readonly offboardingId: string;
  readonly step: OffboardingStep;
  /** How many keys, tokens or devices the step concerned. */
  readonly count: number;
}

/** Records that a step was carried out, once. The last one completes the offboarding. */
export const recordOffboardingStep = defineCommand({
  name: 'RecordOffboardingStep',
  aggregate: offboarding,
  stream: ({ userId }: RecordOffboardingStep, { tenantId }) => offboardingStream(tenantId, userId),
  decide(state, { userId, offboardingId, step, count }) {
    if (state.status !== 'running' || state.offboardingId !== offboardingId || state.steps.includes(step))
      return accept([]);
    const done = [...state.steps, step];
    const events: OffboardingEvent[] = [
      { type: 'OffboardingStepCompleted', data: { offboardingId, userId, step, count } },
    ];
    if (offboardingSteps.every((each) => done.includes(each)))
      events.push({ type: 'OffboardingCompleted', data: { offboardingId, userId } });
    return accept(events);
  },
  freshens: ['offboardings'],
});
