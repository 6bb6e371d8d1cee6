import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { webhookReplayEvents } from '../domain/webhook-replay.ts';
import { webhookReplaying } from '../jobs.ts';

export const whenWebhookReplayStartedPlanIt = defineReaction({
  name: 'webhook-replays',
  lane: 'main',
  families: [webhookReplayEvents],
  on: {
    WebhookReplayStarted: ({ tenantId, data: { replayId } }) => [
      { effects: [enqueue(webhookReplaying, { tenantId, replayId })] },
    ],
  },
});
