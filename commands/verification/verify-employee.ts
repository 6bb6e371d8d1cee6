import { employee, employeeStream, isEmployed } from '../../src/contexts/employees/domain/employee.ts';
import type { verificationEvents, VerificationMethod } from '../../src/contexts/verification/domain/events.ts';
import {
  isRefusalRecorded,
  MAX_FAILURES,
  reachesLimit,
  secondsUntilOpen,
  verification,
  verificationStream,
} from '../../src/contexts/verification/domain/verification.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import type { EventOf } from '../../src/platform/kernel/event.ts';
import { limited, notFound } from '../../src/platform/kernel/failure.ts';
import { uuidOf, type TenantId } from '../../src/platform/kernel/ids.ts';

interface VerifyEmployee {
  readonly userId: string;
  readonly method: VerificationMethod;
  readonly code: string;
}

/** The owner of the codes, and how often that person became inactive. */
interface CodeHolder {
  readonly userId: string;
  readonly deactivations: number;
}

/** The write-side ports that checking a code needs. */
export interface VerificationPorts {
  readonly aggregates: AggregateReader;
  readonly verificationCodes: {
    isDailyCode(tenantId: TenantId, person: CodeHolder, code: string, now: number): boolean;
    stepOfOtp(tenantId: TenantId, person: CodeHolder, code: string, now: number): number | undefined;
  };
}

interface Facts {
  readonly isRight: boolean;
  /** The time step of a correct one-time code; null for a daily code. */
  readonly step: number | null;
}

/** `limited`: the code was not checked. This is a result and not a failure, because a refusal is recorded, too. */
export type VerificationOutcome =
  { readonly kind: 'valid' | 'invalid'; readonly at: string } | { readonly kind: 'limited'; readonly seconds: number };

/**
 * Checks a code. Limit, single use and outcome are decided in one append to the employee's stream. So concurrent
 * attempts cannot exceed the limit, and a one-time code is accepted once.
 */
export const verifyEmployee = defineCommand({
  name: 'VerifyEmployee',
  aggregate: verification,
  stream: ({ userId }: VerifyEmployee, { tenantId }) => verificationStream(tenantId, userId),
  prepare: async (
    { userId, method, code }: VerifyEmployee,
    { aggregates, verificationCodes }: VerificationPorts,
    { tenantId, now },
  ) => {
    const known = await aggregates.load(employee, employeeStream(tenantId, userId));
    if (known.status !== 'present') return notFound();
    // Codes of inactive people are never valid. The attempt still counts: an attacker may be impersonating a former
    // colleague.
    if (!isEmployed(known)) return { isRight: false, step: null };
    const person = { userId, deactivations: known.deactivations };
    if (method === 'daily_code')
      return { isRight: verificationCodes.isDailyCode(tenantId, person, code, now), step: null };
    const step = verificationCodes.stepOfOtp(tenantId, person, code, now);
    return { isRight: step !== undefined, step: step ?? null };
  },
  decide(state, { userId, method }, { id: verificationId, now }, { isRight, step }: Facts) {
    const at = new Date(now).toISOString();
    const tried = { verificationId, userId, method, at };
    const seconds = secondsUntilOpen(state, now);
    if (seconds > 0) {
      return isRefusalRecorded(state)
        ? answer({ kind: 'limited', seconds }, [{ type: 'VerificationRefused', data: tried }])
        : limited(seconds);
    }
    if (isRight && (step === null || step > state.newestStep)) {
      return answer({ kind: 'valid', at }, [{ type: 'VerificationSucceeded', data: { ...tried, step } }]);
    }
    const alert = {
      alertId: alertIdOf(verificationId),
      userId,
      alertType: 'repeated_failures' as const,
      failures: MAX_FAILURES,
    };
    const failed = { type: 'VerificationFailed' as const, data: tried };
    return answer(
      { kind: 'invalid', at },
      reachesLimit(state, now) ? [failed, { type: 'VerificationAlertRaised', data: alert }] : [failed],
    );
  },
  recall(before, [event], _input, { now }): VerificationOutcome {
    if (event!.type === 'VerificationRefused') return { kind: 'limited', seconds: secondsUntilOpen(before, now) };
    return {
      kind: event!.type === 'VerificationSucceeded' ? 'valid' : 'invalid',
      at: (event!.data as { at: string }).at,
    };
  },
  freshens: ['verification_attempts', 'verification_alerts'],
});

const answer = (verdict: VerificationOutcome, events: readonly EventOf<typeof verificationEvents>[]) =>
  acceptWith(verdict, events);

/** Differs from the id of the attempt, and is the same on every retry of the decision. */
function alertIdOf(verificationId: string): string {
  const octets = Buffer.from(verificationId.replaceAll('-', ''), 'hex');
  return uuidOf(octets.reverse());
}
