import { attemptOutcomes, deliveryEvents } from '../../src/contexts/notifications/domain/events.ts';
import {
  defineReadModel,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  delivery_id: id,
  attempt: integer,
  started_at: timestamp,
  ended_at: nullable(timestamp),
  /** Null: under way, or the process ended before it knew. The message may have left. */
  outcome: nullable(text) as Column<(typeof attemptOutcomes)[number] | null>,
  response: nullable(text),
  duration_ms: nullable(integer),
};
export type DeliveryAttemptRow = Row<{ columns: typeof columns }>;

/** Receipts: every attempt at every delivery. */
export const deliveryAttempts = defineReadModel({
  name: 'delivery_attempts',
  version: 1,
  lane: 'main',
  columns,
  key: ['delivery_id', 'attempt'],
  families: [deliveryEvents],
  on: {
    DeliveryAttemptStarted: ({ data: { deliveryId, attempt, startedAt } }) => ({
      key: { delivery_id: deliveryId, attempt },
      begins: true,
      fold: () => ({
        delivery_id: deliveryId,
        attempt,
        started_at: startedAt,
        ended_at: null,
        outcome: null,
        response: null,
        duration_ms: null,
      }),
    }),
    DeliveryAttemptEnded: ({ data: { deliveryId, attempt, endedAt, outcome, response, durationMs } }) => ({
      key: { delivery_id: deliveryId, attempt },
      fold: (row: DeliveryAttemptRow | undefined) =>
        row && { ...row, ended_at: endedAt, outcome, response, duration_ms: durationMs },
    }),
  },
});
