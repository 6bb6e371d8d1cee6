import { statusAfter, type DeliveryStatus } from '../../src/contexts/notifications/domain/delivery.ts';
import { deliveryEvents } from '../../src/contexts/notifications/domain/events.ts';
import type { ChannelName, Recipient, MessageSubject } from '../../src/contexts/notifications/domain/message.ts';
import {
  at,
  changeExisting,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  delivery_id: id,
  channel: text as Column<ChannelName>,
  recipient: json<Recipient>(),
  subject: json<MessageSubject>(),
  alert_id: nullable(id),
  message_id: id,
  replay_id: nullable(id),
  state: text as Column<DeliveryStatus>,
  attempts: integer,
  last_response: nullable(text),
  /** Null unless the delivery is pending. */
  next_attempt_at: nullable(timestamp),
  /** An attempt is under way. */
  held_until: nullable(timestamp),
  digest_due_at: nullable(timestamp),
  planned_at: timestamp,
  delivered_at: nullable(timestamp),
  updated_at: timestamp,
};
export type DeliveryRow = Row<{ columns: typeof columns }>;

const change = changeExisting<DeliveryRow>()('delivery_id');

/** Messages that left or will leave, one row for each recipient. The outbox sends by the log, never by this table. */
export const deliveries = defineReadModel({
  name: 'deliveries',
  version: 1,
  lane: 'main',
  columns,
  key: ['delivery_id'],
  indexes: [
    ['planned_at desc', 'delivery_id'],
    ['alert_id', 'planned_at desc'],
    ['state', 'planned_at desc'],
    '(tenant_id, next_attempt_at) where next_attempt_at is not null',
    '(tenant_id, replay_id) where replay_id is not null',
  ],
  families: [deliveryEvents],
  on: {
    DeliveryPlanned: (event) => ({
      key: { delivery_id: event.data.deliveryId },
      begins: true,
      fold: () => {
        const { deliveryId, channel, recipient, subject, messageId, replayId, digestDueAt, plannedAt } = event.data;
        return {
          delivery_id: deliveryId,
          channel,
          recipient,
          subject,
          alert_id: 'alertId' in subject ? subject.alertId : null,
          message_id: messageId,
          replay_id: replayId,
          state: digestDueAt === null ? ('pending' as const) : ('held_back' as const),
          attempts: 0,
          last_response: null,
          next_attempt_at: digestDueAt === null ? plannedAt : null,
          held_until: null,
          digest_due_at: digestDueAt,
          planned_at: plannedAt,
          delivered_at: null,
          updated_at: at(event),
        };
      },
    }),
    DeliveryAttemptStarted: (event) =>
      change(event.data.deliveryId, (row) => ({
        ...row,
        attempts: event.data.attempt,
        held_until: event.data.heldUntil,
        updated_at: at(event),
      })),
    DeliveryAttemptEnded: (event) =>
      change(event.data.deliveryId, (row) => ({
        ...row,
        state: statusAfter(event.data.outcome, event.data.nextAttemptAt),
        last_response: event.data.response,
        next_attempt_at: event.data.nextAttemptAt,
        held_until: null,
        delivered_at: event.data.outcome === 'accepted' ? event.data.endedAt : row.delivered_at,
        updated_at: at(event),
      })),
    DeliveryRetryRequested: (event) =>
      change(event.data.deliveryId, (row) => ({
        ...row,
        state: 'pending',
        next_attempt_at: event.data.requestedAt,
        held_until: null,
        updated_at: at(event),
      })),
  },
});
