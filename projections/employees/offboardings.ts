import {
  offboardingEvents,
  type LeavingCause,
  type OffboardingStep,
} from '../../src/contexts/employees/domain/offboarding.ts';
import type { ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import type { Actor } from '../../src/platform/kernel/actor.ts';
import {
  at,
  changeExisting,
  defineReadModel,
  id,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

export interface CompletedStep {
  readonly name: OffboardingStep;
  readonly count: number;
  readonly completedAt: string;
  readonly eventId: string;
}

const columns = {
  user_id: id,
  offboarding_id: id,
  state: text as Column<'running' | 'completed' | 'cancelled'>,
  cause: text as Column<LeavingCause>,
  cause_event_id: id,
  caused_at: timestamp,
  requested_by: json<Pick<Actor, 'kind' | 'id'>>(),
  source: nullable(json<ProvisioningSource>()),
  certificates_end_at: timestamp,
  steps: json<readonly CompletedStep[]>(),
  started_at: timestamp,
  completed_at: nullable(timestamp),
  returned_at: nullable(timestamp),
};
export type OffboardingRow = Row<{ columns: typeof columns }>;

const change = changeExisting<OffboardingRow>()('user_id');

/** The newest offboarding of each person. Ids only, so it outlives an erasure. */
export const offboardings = defineReadModel({
  name: 'offboardings',
  version: 1,
  lane: 'main',
  columns,
  key: ['user_id'],
  indexes: [`(certificates_end_at) where state = 'running'`],
  families: [offboardingEvents],
  on: {
    OffboardingStarted: (event) => ({
      key: { user_id: event.data.userId },
      fold: () => ({
        user_id: event.data.userId,
        offboarding_id: event.data.offboardingId,
        state: 'running',
        cause: event.data.cause,
        cause_event_id: event.data.causeEventId,
        caused_at: event.data.causedAt,
        requested_by: event.data.by,
        source: event.data.source,
        certificates_end_at: event.data.certificatesEndAt,
        steps: [],
        started_at: at(event),
        completed_at: null,
        returned_at: null,
      }),
    }),
    OffboardingHastened: ({ data: { userId, cause, certificatesEndAt } }) =>
      change(userId, (row) => ({ ...row, cause, certificates_end_at: certificatesEndAt })),
    OffboardingStepCompleted: (event) =>
      change(event.data.userId, (row) => {
        const { step: name, count } = event.data;
        return { ...row, steps: [...row.steps, { name, count, completedAt: at(event), eventId: event.id }] };
      }),
    OffboardingCompleted: (event) =>
      change(event.data.userId, (row) => ({ ...row, state: 'completed', completed_at: at(event) })),
    OffboardingEnded: (event) =>
      change(event.data.userId, (row) => ({
        ...row,
        state: row.state === 'running' ? 'cancelled' : row.state,
        returned_at: at(event),
      })),
  },
});
