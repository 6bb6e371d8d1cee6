import { offboarding, offboardingStream } from '../../src/contexts/employees/domain/offboarding.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndOffboarding {
  readonly userId: string;
}

/** The person is active again: what has not ended yet stays, and the next departure is a new offboarding. Idempotent. */
export const endOffboarding = defineCommand({
  name: 'EndOffboarding',
  aggregate: offboarding,
  stream: ({ userId }: EndOffboarding, { tenantId }) => offboardingStream(tenantId, userId),
  decide({ status, offboardingId }, { userId }) {
    if (status === 'none' || status === 'returned') return accept([]);
    return accept([{ type: 'OffboardingEnded', data: { offboardingId, userId } }]);
  },
  freshens: ['offboardings'],
});
