import { webhookReplayEvents } from '../../src/contexts/notifications/domain/webhook-replay.ts';
import { at, defineReadModel, id, timestamp } from '../../src/platform/kernel/read-model.ts';

/** Replays under way, so that one whose job was lost is continued. */
export const webhookReplays = defineReadModel({
  name: 'webhook_replays',
  version: 1,
  lane: 'main',
  columns: { replay_id: id, started_at: timestamp },
  key: ['replay_id'],
  families: [webhookReplayEvents],
  on: {
    WebhookReplayStarted: (event) => ({
      key: { replay_id: event.data.replayId },
      fold: () => ({ replay_id: event.data.replayId, started_at: at(event) }),
    }),
    WebhookReplayEnded: ({ data: { replayId } }) => ({ key: { replay_id: replayId }, fold: () => undefined }),
  },
});
