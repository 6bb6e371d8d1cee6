import { notificationSettings, notificationSettingsStream } from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

/** Switches the webhook off because its receiver is gone (OP-184), unless it has another address by now. */
export const disableWebhook = defineCommand({
  name: 'DisableWebhook',
  aggregate: notificationSettings,
  stream: (_input: { readonly webhookUrl: string }, { tenantId }) => notificationSettingsStream(tenantId),
  decide({ values }, { webhookUrl }, { now }) {
    if (!values.webhookEnabled || values.webhookUrl !== webhookUrl) return accept([]);
    return accept([{ type: 'WebhookDisabled', data: { reason: 'gone', disabledAt: new Date(now).toISOString() } }]);
  },
});
