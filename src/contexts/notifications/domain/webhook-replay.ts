import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** Types of webhook messages about alerts. */
export const replayedTypes = ['alert.created', 'alert.updated'] as const;
export const replayedTypeSchema = z.enum(replayedTypes);

const range = z.object({
  replayId: uuid(),
  /** Inclusive. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  types: z.array(replayedTypeSchema),
});
export type WebhookReplay = z.output<typeof range>;

/** Sending history to the webhook again. A tenant has one replay at a time. */
export const webhookReplayEvents = defineEvents('webhookReplay', {
  WebhookReplayStarted: { version: 1, schema: range, audit: 'webhook_replay.started' },
  /** All messages are planned. `planned`: how many. */
  WebhookReplayEnded: {
    version: 1,
    schema: z.object({ replayId: uuid(), planned: z.int().min(0) }),
    audit: 'webhook_replay.ended',
  },
});

export interface WebhookReplayState {
  readonly running: WebhookReplay | undefined;
}

export const webhookReplay = defineAggregate<WebhookReplayState, typeof webhookReplayEvents>(
  webhookReplayEvents,
  { running: undefined },
  (_state, event) => ({ running: event.type === 'WebhookReplayStarted' ? event.data : undefined }),
);

/** Each tenant has one such stream. */
export const webhookReplayStream = (tenantId: TenantId): string => streamName('webhookReplay', tenantId, tenantId);
