import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { deliveryEvents } from './events.ts';
import type { ChannelName, Recipient, MessageSubject } from './message.ts';

/** `held_back`: part of a digest. `refused`: the receiver or the settings exclude it. `exhausted`: tried for three days. */
export const deliveryStates = ['pending', 'delivered', 'refused', 'exhausted', 'held_back'] as const;
export type DeliveryStatus = (typeof deliveryStates)[number];

/** An attempt takes at most half a minute. After this time the process that made it is gone. */
export const ATTEMPT_HELD_MS = 60_000;

/** What an attempt needs to know. */
export interface PlannedMessage {
  readonly deliveryId: string;
  readonly channel: ChannelName;
  readonly recipient: Recipient;
  readonly subject: MessageSubject;
  readonly messageId: string;
  readonly replayId: string | null;
}

export interface DeliveryState {
  readonly status: 'none' | DeliveryStatus;
  readonly message: PlannedMessage | undefined;
  /** All attempts that were started. */
  readonly attempts: number;
  /** Attempts since `since`, when the present round began (epoch milliseconds). */
  readonly attemptsInRound: number;
  readonly since: number;
  /** When the next attempt is due; undefined unless pending. */
  readonly dueAt: number | undefined;
  /** An attempt without a result; nobody else starts one before this moment. */
  readonly heldUntil: number | undefined;
}

const initial: DeliveryState = {
  status: 'none',
  message: undefined,
  attempts: 0,
  attemptsInRound: 0,
  since: 0,
  dueAt: undefined,
  heldUntil: undefined,
};

export const delivery = defineAggregate<DeliveryState, typeof deliveryEvents>(
  deliveryEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'DeliveryPlanned': {
        const { digestDueAt, plannedAt, ...message } = event.data;
        const since = Date.parse(plannedAt);
        const isHeld = digestDueAt !== null;
        return {
          ...initial,
          status: isHeld ? 'held_back' : 'pending',
          message,
          since,
          dueAt: isHeld ? undefined : since,
        };
      }
      case 'DeliveryAttemptStarted':
        return {
          ...state,
          attempts: event.data.attempt,
          attemptsInRound: state.attemptsInRound + 1,
          heldUntil: Date.parse(event.data.heldUntil),
        };
      case 'DeliveryAttemptEnded': {
        const { outcome, nextAttemptAt } = event.data;
        return {
          ...state,
          status: statusAfter(outcome, nextAttemptAt),
          dueAt: nextAttemptAt === null ? undefined : Date.parse(nextAttemptAt),
          heldUntil: undefined,
        };
      }
      case 'DeliveryRetryRequested': {
        const since = Date.parse(event.data.requestedAt);
        return { ...state, status: 'pending', attemptsInRound: 0, since, dueAt: since, heldUntil: undefined };
      }
    }
  },
);

export const statusAfter = (
  outcome: 'accepted' | 'deferred' | 'refused',
  nextAttemptAt: string | null,
): DeliveryStatus => {
  if (outcome === 'accepted') return 'delivered';
  if (outcome === 'refused') return 'refused';
  return nextAttemptAt === null ? 'exhausted' : 'pending';
};

/** Recorded before anything is sent. `now`: epoch milliseconds. */
export const attemptStarted = (deliveryId: string, attempt: number, now: number) => ({
  type: 'DeliveryAttemptStarted' as const,
  data: {
    deliveryId,
    attempt,
    startedAt: new Date(now).toISOString(),
    heldUntil: new Date(now + ATTEMPT_HELD_MS).toISOString(),
  },
});

export const deliveryStream = (tenantId: TenantId, deliveryId: string): string =>
  streamName('delivery', tenantId, deliveryId);
