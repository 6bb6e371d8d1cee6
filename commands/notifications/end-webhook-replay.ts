import { webhookReplay, webhookReplayStream } from '../../src/contexts/notifications/domain/webhook-replay.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndWebhookReplay {
  readonly replayId: string;
  readonly planned: number;
}

/** Ends the replay: all of its messages are planned. */
export const endWebhookReplay = defineCommand({
  name: 'EndWebhookReplay',
  aggregate: webhookReplay,
  stream: (_input: EndWebhookReplay, { tenantId }) => webhookReplayStream(tenantId),
  decide({ running }, { replayId, planned }) {
    if (running?.replayId !== replayId) return accept([]);
    return accept([{ type: 'WebhookReplayEnded', data: { replayId, planned } }]);
  },
});
