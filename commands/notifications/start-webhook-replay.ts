import {
  webhookReplay,
  webhookReplayStream,
  type WebhookReplay,
} from '../../src/contexts/notifications/domain/webhook-replay.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

/** Begins to send history to the webhook again. One replay at a time. */
export const startWebhookReplay = defineCommand({
  name: 'StartWebhookReplay',
  aggregate: webhookReplay,
  stream: (_input: WebhookReplay, { tenantId }) => webhookReplayStream(tenantId),
  decide({ running }, replay) {
    if (running?.replayId === replay.replayId) return accept([]);
    if (running) return conflict('replay_running');
    return accept([{ type: 'WebhookReplayStarted', data: { ...replay, types: [...replay.types] } }]);
  },
});
