import {
  attemptStarted,
  delivery,
  deliveryStream,
  type PlannedMessage,
} from '../../src/contexts/notifications/domain/delivery.ts';
import type { DeliveryEvent } from '../../src/contexts/notifications/domain/events.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

export interface StartedAttempt {
  readonly attempt: number;
  readonly message: PlannedMessage;
}

/**
 * Begins an attempt, if one is due: of several processes that try, one gets it. Recorded before anything is sent. The
 * result is undefined if no attempt is due.
 */
export const startDeliveryAttempt = defineCommand({
  name: 'StartDeliveryAttempt',
  aggregate: delivery,
  stream: ({ deliveryId }: { readonly deliveryId: string }, { tenantId }) => deliveryStream(tenantId, deliveryId),
  decide({ status, message, dueAt, heldUntil, attempts }, { deliveryId }, { now }) {
    if (status === 'none' || !message) return notFound();
    const isDue = status === 'pending' && dueAt !== undefined && dueAt <= now;
    const isHeld = heldUntil !== undefined && heldUntil > now;
    if (!isDue || isHeld) return acceptWith<DeliveryEvent, StartedAttempt | undefined>(undefined, []);
    const attempt = attempts + 1;
    return acceptWith<DeliveryEvent, StartedAttempt | undefined>({ attempt, message }, [
      attemptStarted(deliveryId, attempt, now),
    ]);
  },
});
