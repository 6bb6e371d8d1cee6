import { offboardingSettings } from '../../src/contexts/employees/domain/offboarding-settings.resource.ts';
import {
  leavingCauses,
  isFinal,
  offboarding,
  offboardingStream,
  type LeavingCause,
} from '../../src/contexts/employees/domain/offboarding.ts';
import type { ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import type { Actor } from '../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';

interface StartOffboarding {
  readonly userId: string;
  readonly cause: LeavingCause;
  readonly causeEventId: string;
  /** ISO 8601: when the person left. */
  readonly causedAt: string;
  readonly by: Pick<Actor, 'kind' | 'id'>;
  readonly source: ProvisioningSource | null;
}

interface Facts {
  readonly graceMinutes: number;
}

const MINUTE_MS = 60_000;

/**
 * Begins to end everything that a leaver can do. One departure has one offboarding: a repeated cause does nothing, and a
 * stronger one ends the time of grace.
 */
export const startOffboarding = defineCommand({
  name: 'StartOffboarding',
  aggregate: offboarding,
  stream: ({ userId }: StartOffboarding, { tenantId }) => offboardingStream(tenantId, userId),
  prepare: async (_input: StartOffboarding, { aggregates }: WithAggregates, { tenantId }): Promise<Facts> => {
    const { values } = await aggregates.load(offboardingSettings.aggregate, offboardingSettings.stream(tenantId));
    return { graceMinutes: values.certificateGraceMinutes };
  },
  decide(state, input, { id: offboardingId }, { graceMinutes }: Facts) {
    const { userId, cause, causeEventId, causedAt, by, source } = input;
    const graceMs = isFinal(cause) ? 0 : graceMinutes * MINUTE_MS;
    const certificatesEndAt = new Date(Date.parse(causedAt) + graceMs).toISOString();
    if (state.status === 'none' || state.status === 'returned') {
      const data = { offboardingId, userId, cause, causeEventId, causedAt, source, certificatesEndAt };
      return accept([{ type: 'OffboardingStarted', data: { ...data, by: { kind: by.kind, id: by.id } } }]);
    }
    const isStronger = leavingCauses.indexOf(cause) > leavingCauses.indexOf(state.cause);
    if (state.status === 'completed' || !isStronger) return accept([]);
    const hastened = { offboardingId: state.offboardingId, userId, cause, certificatesEndAt };
    return accept([{ type: 'OffboardingHastened', data: hastened }]);
  },
  freshens: ['offboardings'],
});
