import { z } from 'zod';
import type { DeliveryAttemptRow } from '../../projections/notifications/delivery-attempts.ts';
import type { DeliveryRow } from '../../projections/notifications/deliveries.ts';
import { deliveryStates, type DeliveryStatus } from '../../src/contexts/notifications/domain/delivery.ts';
import { attemptOutcomes } from '../../src/contexts/notifications/domain/events.ts';
import {
  channelNameSchema,
  recipientSchema,
  subjectSchema,
  type ChannelName,
} from '../../src/contexts/notifications/domain/message.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';

const when = z.iso.datetime().nullable();

/** A message to one recipient. */
export const deliveryView = z
  .object({
    id: z.uuid(),
    channel: channelNameSchema,
    recipient: recipientSchema,
    subject: subjectSchema,
    alertId: z.uuid().nullable(),
    /** The same in all attempts and replays. */
    messageId: z.uuid(),
    replayId: z.uuid().nullable(),
    state: z.enum(deliveryStates),
    attemptCount: z.int(),
    lastResponse: z.string().nullable(),
    nextAttemptAt: when,
    /** When the digest is due that tells of a message that was held back. */
    digestDueAt: when,
    plannedAt: z.iso.datetime(),
    deliveredAt: when,
  })
  .meta({ title: 'Delivery' });
export type DeliveryView = z.output<typeof deliveryView>;

const attemptView = z
  .object({
    attempt: z.int(),
    startedAt: z.iso.datetime(),
    endedAt: when,
    /** Null: under way, or the process ended before it knew. */
    outcome: z.enum(attemptOutcomes).nullable(),
    response: z.string().nullable(),
    durationMs: z.int().nullable(),
  })
  .meta({ title: 'DeliveryAttempt' });
export const deliveryWithAttempts = deliveryView
  .extend({ attempts: z.array(attemptView), attemptsAreTruncated: z.boolean() })
  .meta({ title: 'DeliveryWithAttempts' });
type DeliveryWithAttempts = z.output<typeof deliveryWithAttempts>;

const toDelivery = (row: DeliveryRow): DeliveryView => ({
  id: row.delivery_id,
  channel: row.channel,
  recipient: row.recipient,
  subject: row.subject,
  alertId: row.alert_id,
  messageId: row.message_id,
  replayId: row.replay_id,
  state: row.state,
  attemptCount: row.attempts,
  lastResponse: row.last_response,
  nextAttemptAt: row.next_attempt_at,
  digestDueAt: row.digest_due_at,
  plannedAt: row.planned_at,
  deliveredAt: row.delivered_at,
});

const toAttempt = (row: DeliveryAttemptRow) => ({
  attempt: row.attempt,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  outcome: row.outcome,
  response: row.response,
  durationMs: row.duration_ms,
});

export interface DeliveryFilter {
  readonly channel?: ChannelName | undefined;
  readonly state?: DeliveryStatus | undefined;
  readonly alertId?: string | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTER = `
   where d.tenant_id = $1
     and ($2::text is null or d.channel = $2)
     and ($3::text is null or d.state = $3)
     and ($4::uuid is null or d.alert_id = $4)
     and ($5::timestamptz is null or d.planned_at >= $5)
     and ($6::timestamptz is null or d.planned_at <= $6)`;
/** Counting stops here. */
const COUNTED = 10_000;
const COUNT = `select count(*)::int as total from (select from deliveries d ${FILTER} limit ${COUNTED}) counted`;

export const deliveryOrder: KeysetOrder<DeliveryRow> = {
  list: 'deliveries',
  columns: [descending('d.planned_at', 'timestamptz'), ascending('d.delivery_id', 'uuid')],
  valuesOf: ({ planned_at, delivery_id }) => [planned_at, delivery_id],
};

/** Newest first. */
export const listDeliveries: Query<DeliveryFilter & Page, { deliveries: DeliveryView[] } & KeysetPaginated> = async (
  reads,
  input,
) => {
  const { channel = null, state = null, alertId = null, from = null, to = null } = input;
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: deliveryOrder,
      count: COUNT,
      counted: COUNTED,
      page: ({ where, tail }) => `select d.* from deliveries d ${FILTER} ${where} ${tail}`,
    },
    [channel, state, alertId, from, to],
    input,
  );
  return { deliveries: rows.map(toDelivery), ...pages };
};

const ONE = 'select * from deliveries where tenant_id = $1 and delivery_id = $2';
/** A delivery has about sixteen attempts in a round. */
const MAX_ATTEMPTS = 200;
const ATTEMPTS = `
  select * from delivery_attempts where tenant_id = $1 and delivery_id = $2
   order by attempt desc limit ${MAX_ATTEMPTS + 1}`;

/** A delivery and its latest attempts, oldest first. */
export const getDelivery: Query<{ readonly deliveryId: string }, DeliveryWithAttempts> = async (
  reads,
  { deliveryId },
) => {
  const [row, attempts] = await Promise.all([
    reads.one<DeliveryRow>(ONE, [deliveryId]),
    reads.rows<DeliveryAttemptRow>(ATTEMPTS, [deliveryId]),
  ]);
  if (!row) return notFound();
  return {
    ...toDelivery(row),
    attempts: attempts.slice(0, MAX_ATTEMPTS).toReversed().map(toAttempt),
    attemptsAreTruncated: attempts.length > MAX_ATTEMPTS,
  };
};
