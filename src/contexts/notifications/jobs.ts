import { z } from 'zod';
import { uuid } from '../../platform/kernel/ids.ts';
import { channelNameSchema } from './domain/message.ts';
import { declareJob } from '../../platform/jobs/job.ts';

/**
 * Wakes the sender for one delivery. Attempts are those of the delivery's own schedule, so the job itself runs once. A
 * job that is lost is made again by `dueDeliveries`.
 */
export const deliveryWaking = declareJob({
  name: 'send-delivery',
  data: z.object({ tenantId: uuid(), deliveryId: uuid(), channel: channelNameSchema }),
  attempts: 1,
  backoff: [],
  timeoutMs: 30_000,
  lane: 'deliveries',
});

/** Finds deliveries whose job was lost and windows that are over. Runs every 20 seconds. */
export const dueDeliveries = declareJob({
  name: 'sweep-deliveries',
  data: z.object({}),
  attempts: 2,
  backoff: { firstMs: 5_000, longestMs: 10_000 },
});

/** Plans the messages of a replay. Planning one twice changes nothing, so a lost job begins at the start again. */
export const webhookReplaying = declareJob({
  name: 'replay-webhooks',
  data: z.object({
    tenantId: uuid(),
    replayId: uuid(),
    /** The position in the log up to which messages are planned. */
    after: z
      .string()
      .regex(/^-?\d+$/)
      .default('0'),
    planned: z.int().default(0),
  }),
  attempts: 5,
  backoff: { firstMs: 5_000, longestMs: 60_000 },
  timeoutMs: 120_000,
});
