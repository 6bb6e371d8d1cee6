import { notificationSettings, notificationSettingsStream } from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

/** The address as the settings held it when the receiver was called. */
interface DisableWebhook {
  readonly webhookUrl: string | null;
  readonly webhookUrlRef?: string | null;
}

/** Switches the webhook off because its receiver is gone (OP-184), unless it has another address by now. */
export const disableWebhook = defineCommand({
  name: 'DisableWebhook',
  aggregate: notificationSettings,
  stream: (_input: DisableWebhook, { tenantId }) => notificationSettingsStream(tenantId),
  decide({ values, webhookUrlRef: present }, { webhookUrl, webhookUrlRef = null }, { now }) {
    if (!values.webhookEnabled || values.webhookUrl !== webhookUrl || present !== webhookUrlRef) return accept([]);
    return accept([{ type: 'WebhookDisabled', data: { reason: 'gone', disabledAt: new Date(now).toISOString() } }]);
  },
});
