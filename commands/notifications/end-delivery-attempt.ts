import { delivery, deliveryStream } from '../../src/contexts/notifications/domain/delivery.ts';
import { nextAttemptAt } from '../../src/contexts/notifications/domain/retry-schedule.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

export interface EndDeliveryAttempt {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly outcome: 'accepted' | 'deferred' | 'refused';
  /** Fixed words and status codes. */
  readonly response: string;
  readonly durationMs: number;
  readonly retryAfterMs?: number | undefined;
}

/** Records what became of an attempt, and when the next one is due (choice OP-184). A test has one attempt. */
export const endDeliveryAttempt = defineCommand({
  name: 'EndDeliveryAttempt',
  aggregate: delivery,
  stream: ({ deliveryId }: EndDeliveryAttempt, { tenantId }) => deliveryStream(tenantId, deliveryId),
  decide(state, input, { now }) {
    const { deliveryId, attempt, outcome, response, durationMs, retryAfterMs } = input;
    if (state.status === 'none') return notFound();
    // The result of an attempt that took too long: another one is under way, or its result is known.
    if (state.attempts !== attempt || state.heldUntil === undefined) return accept([]);
    const next =
      outcome === 'deferred' && state.message?.subject.kind !== 'test'
        ? nextAttemptAt({ deliveryId, attempt: state.attemptsInRound, since: state.since, now, retryAfterMs })
        : undefined;
    return accept([
      {
        type: 'DeliveryAttemptEnded',
        data: {
          deliveryId,
          attempt,
          outcome,
          response,
          durationMs,
          endedAt: new Date(now).toISOString(),
          nextAttemptAt: next === undefined ? null : new Date(next).toISOString(),
        },
      },
    ]);
  },
});
