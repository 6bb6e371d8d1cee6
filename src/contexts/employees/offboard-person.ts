import { z } from 'zod';
import { recordOffboardingSteps } from '../../../commands/employees/record-offboarding-steps.ts';
import { revokeDevice } from '../../../commands/devices/revoke-device.ts';
import { revokeEnrollmentToken } from '../../../commands/enrollment/revoke-enrollment-token.ts';
import { revokeUnblockKey } from '../../../commands/policies/revoke-unblock-key.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import {
  devicesOfLeaver,
  enrollmentTokensOfLeaver,
  unblockKeysOfLeaver,
} from '../../../queries/employees/accesses-of-leaver.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import { derivedId } from '../../platform/execution/derived-id.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { Command } from '../../platform/kernel/command.ts';
import type { DomainEvent, Position } from '../../platform/kernel/event.ts';
import { isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import type { Query, TenantReads } from '../../platform/kernel/query.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import { employee, employeeStream, hasLeft } from './domain/employee.ts';
import {
  offboarding,
  offboardingSteps,
  offboardingStream,
  type OffboardingState,
  type OffboardingStep,
} from './domain/offboarding.ts';

export interface Offboarding {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
}

/** Takes the steps that are due. What a killed process left undone is done by the next attempt, and nothing twice. */
export const offboardingWork = declareJob({
  name: 'offboard-person',
  data: z.object({ tenantId: uuid(), userId: uuid() }),
  attempts: 12,
  backoff: { firstMs: 1_000, longestMs: 600_000 },
});

export const offboardPersonJob = (parts: Offboarding): AnyJob =>
  defineJob({
    ...offboardingWork,
    handle: async ({ tenantId, userId }, { correlationId }) => {
      try {
        await offboardPerson(parts, asTenantId(tenantId), userId, correlationId);
      } catch (error) {
        throw error instanceof JobFailed ? error : new JobFailed('a person was not offboarded', { cause: error });
      }
    },
  });

const AT_ONCE = 8;
const FRESH_WITHIN_MS = 15_000;

/** The departure itself ended these: their steps only count. */
const ENDED_BEFORE: ReadonlySet<OffboardingStep> = new Set(['extension_sessions', 'verification_codes']);

interface Leaving {
  readonly parts: Offboarding;
  readonly execution: ExecutionContext;
  readonly userId: string;
  readonly state: OffboardingState;
}

export async function offboardPerson(
  parts: Offboarding,
  tenantId: TenantId,
  userId: string,
  correlationId: string,
): Promise<void> {
  const { aggregates, freshness, head } = parts;
  const state = await aggregates.load(offboarding, offboardingStream(tenantId, userId));
  if (state.status !== 'running') return;
  // Keys, tokens and devices are listed by read models, which must not be behind the departure.
  if (!(await freshness.waitFor(['devices', 'unblock_keys', 'enrollment_tokens'], await head(), FRESH_WITHIN_MS)))
    throw new JobFailed('the read models are behind');
  const execution = { tenantId, actor: system('offboarding'), correlationId };
  const leaving = { parts, execution, userId, state };
  // Steps that had nothing to end are recorded with the next one: when thousands leave, each write waits for the disk.
  let pending: { step: OffboardingStep; count: number }[] = [];
  const record = async () => {
    const done = { userId, offboardingId: state.offboardingId, steps: pending };
    if (pending.length > 0) orThrow(await parts.executor.execute(recordOffboardingSteps, done, execution));
    pending = [];
  };
  for (const step of offboardingSteps) {
    if (state.steps.includes(step)) continue;
    if (step === 'device_certificates' && !(await mayRevoke(leaving))) break;
    const count = await take[step](leaving);
    pending.push({ step, count });
    if (count > 0 && !ENDED_BEFORE.has(step)) await record();
  }
  await record();
}

/** The time of grace is over, and the person has not returned meanwhile. */
async function mayRevoke({ parts, execution: { tenantId }, userId, state }: Leaving): Promise<boolean> {
  if (Date.parse(state.certificatesEndAt) > Date.now()) return false;
  return hasLeft(await parts.aggregates.load(employee, employeeStream(tenantId, userId)));
}

/** Each step returns how many it concerned. All are idempotent. */
const take: Readonly<Record<OffboardingStep, (leaving: Leaving) => Promise<number>>> = {
  // Both ended with the departure itself: every request looks at the state of its user.
  extension_sessions: async (leaving) => (await listOf(leaving, devicesOfLeaver)).length,
  verification_codes: async () => 1,
  unblock_keys: (leaving) => each(leaving, unblockKeysOfLeaver, revokeUnblockKey, (unblockKeyId) => ({ unblockKeyId })),
  enrollment_tokens: (leaving) =>
    each(leaving, enrollmentTokensOfLeaver, revokeEnrollmentToken, (tokenId) => ({ tokenId })),
  device_certificates: (leaving) => {
    const reason = leaving.state.cause === 'deleted' ? ('user_deleted' as const) : ('user_left' as const);
    const ofUserId = leaving.userId;
    return each(leaving, devicesOfLeaver, revokeDevice, (deviceId) => ({ deviceId, reason, ofUserId }));
  },
};

async function listOf({ parts, execution, userId, state }: Leaving, query: typeof devicesOfLeaver) {
  return orThrow(await query(parts.reads(execution.tenantId), { userId, since: state.causedAt }));
}

/** Issues one command for each, under an id of its own: a repetition finds what the earlier attempt wrote. */
async function each<Input, State, E extends DomainEvent, Facts, Result>(
  leaving: Leaving,
  query: Query<{ userId: string; since: string }, readonly string[]>,
  command: Command<Input, State, E, CommandPorts, Facts, Result>,
  inputOf: (id: string) => Input,
): Promise<number> {
  const { parts, execution, state } = leaving;
  const ids = await listOf(leaving, query);
  await inParallel(AT_ONCE, ids, async (id) => {
    const commandId = derivedId(state.offboardingId, command.name, id);
    const outcome = await parts.executor.execute(command, inputOf(id), { ...execution, commandId, isRetryable: true });
    // A token that was used meanwhile, or a device that is gone, needs no end.
    if (isFailure(outcome) && outcome.kind !== 'conflict' && outcome.kind !== 'notFound') orThrow(outcome);
  });
  return ids.length;
}
