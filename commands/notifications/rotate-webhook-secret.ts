import {
  FORMER_SECRET_MS,
  notificationSettings,
  notificationSettingsStream,
  webhookSecretLocation,
} from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithVault } from '../ports.ts';

/** Sets the signing secret. The former one signs too for a day (choice OP-185); one before that ends now. */
export const rotateWebhookSecret = defineCommand({
  name: 'RotateWebhookSecret',
  aggregate: notificationSettings,
  stream: (_input: { readonly secret: string }, { tenantId }) => notificationSettingsStream(tenantId),
  prepare: async ({ secret }: { readonly secret: string }, { vault }: WithVault, { tenantId }) => ({
    secretRef: await vault.put(tenantId, webhookSecretLocation, secret),
  }),
  decide({ webhookSecretRef, formerSecretRef }, _input, { now }, { secretRef }) {
    const formerUntil = webhookSecretRef === null ? null : new Date(now + FORMER_SECRET_MS).toISOString();
    return accept([{ type: 'WebhookSecretRotated', data: { secretRef, formerRef: webhookSecretRef, formerUntil } }], {
      forget: [formerSecretRef],
    });
  },
  freshens: ['alert_notification_settings'],
});
