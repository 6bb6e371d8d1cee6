import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';
import { provisioningKinds } from './provisioning.ts';

/** Why a person is offboarded, from the mildest. The last two leave no way back for devices. */
export const leavingCauses = ['deactivated', 'unprovisioned', 'deleted'] as const;
export type LeavingCause = (typeof leavingCauses)[number];

/** What ends, in this order. Certificates are last, because they may wait for a time of grace. */
export const offboardingSteps = [
  'extension_sessions',
  'verification_codes',
  'unblock_keys',
  'enrollment_tokens',
  'device_certificates',
] as const;
export type OffboardingStep = (typeof offboardingSteps)[number];

const offboardingId = uuid();
const userId = uuid();
const actorKinds = ['admin', 'org_admin', 'scim', 'device', 'system'] as const;

/** The end of a person's access, step by step. A stream per person; it holds ids and no names. */
export const offboardingEvents = defineEvents('offboarding', {
  OffboardingStarted: {
    version: 1,
    schema: z.object({
      offboardingId,
      userId,
      cause: z.enum(leavingCauses),
      causeEventId: uuid(),
      causedAt: z.iso.datetime(),
      by: z.object({ kind: z.enum(actorKinds), id: uuid().nullable() }),
      /** The SCIM client or directory source that said so. */
      source: z.object({ kind: z.enum(provisioningKinds), id: uuid() }).nullable(),
      certificatesEndAt: z.iso.datetime(),
    }),
    audit: 'offboarding.started',
  },
  /** A stronger cause followed: nothing waits any longer. */
  OffboardingHastened: {
    version: 1,
    schema: z.object({ offboardingId, userId, cause: z.enum(leavingCauses), certificatesEndAt: z.iso.datetime() }),
    audit: 'offboarding.hastened',
  },
  OffboardingStepCompleted: {
    version: 1,
    schema: z.object({ offboardingId, userId, step: z.enum(offboardingSteps), count: z.int() }),
    audit: 'offboarding.step_completed',
  },
  OffboardingCompleted: { version: 1, schema: z.object({ offboardingId, userId }), audit: 'offboarding.completed' },
  /** The person is active again. Steps that were not taken yet are not taken any more. */
  OffboardingEnded: { version: 1, schema: z.object({ offboardingId, userId }), audit: 'offboarding.ended' },
});
export type OffboardingEvent = EventOf<typeof offboardingEvents>;

export interface OffboardingState {
  /** `returned`: the person came back, and the next departure is another offboarding. */
  readonly status: 'none' | 'running' | 'completed' | 'returned';
  readonly offboardingId: string;
  readonly cause: LeavingCause;
  readonly causedAt: string;
  readonly certificatesEndAt: string;
  readonly steps: readonly OffboardingStep[];
}

const initial: OffboardingState = {
  status: 'none',
  offboardingId: '',
  cause: 'deactivated',
  causedAt: '',
  certificatesEndAt: '',
  steps: [],
};

export const offboarding = defineAggregate<OffboardingState, typeof offboardingEvents>(
  offboardingEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'OffboardingStarted': {
        const { offboardingId: id, cause, causedAt, certificatesEndAt } = event.data;
        return { status: 'running', offboardingId: id, cause, causedAt, certificatesEndAt, steps: [] };
      }
      case 'OffboardingHastened':
        return { ...state, cause: event.data.cause, certificatesEndAt: event.data.certificatesEndAt };
      case 'OffboardingStepCompleted':
        return { ...state, steps: [...state.steps, event.data.step] };
      case 'OffboardingCompleted':
        return { ...state, status: 'completed' };
      case 'OffboardingEnded':
        return { ...state, status: 'returned' };
    }
  },
);

export const offboardingStream = (tenantId: TenantId, ofUserId: string): string =>
  streamName('offboarding', tenantId, ofUserId);

/** Whether nothing may delay the end of the certificates. */
export const isFinal = (cause: LeavingCause): boolean => cause !== 'deactivated';
