import { z } from 'zod';
import { changeNotificationSettings } from '../../../../../commands/notifications/change-notification-settings.ts';
import { changeSmtpPassword } from '../../../../../commands/notifications/change-smtp-password.ts';
import { rotateWebhookSecret } from '../../../../../commands/notifications/rotate-webhook-secret.ts';
import {
  getNotificationSettings,
  notificationSettingsView,
  shownNotificationSettings,
  taggedNotificationSettings,
  type NotificationSettingsView,
} from '../../../../../queries/notifications/notification-settings-view.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { emailField } from '../../../../contexts/identity/domain/password-rule.ts';
import {
  notificationSettings,
  notificationSettingsStream,
  type NotificationSettings,
} from '../../../../contexts/notifications/domain/settings.ts';
import { webhookAddressOf } from '../../../../contexts/notifications/domain/webhook-address.ts';
import { webhookSecretText } from '../../../../contexts/notifications/domain/webhook-secret.ts';
import { permits } from '../../../../contexts/identity/domain/permissions.ts';
import { originOnly } from '../../../../platform/kernel/guarded-fields.ts';
import { tenantSettings } from '../../../../contexts/settings/domain/tenant-settings.resource.ts';
import { FailureError, notConfigured, reauthenticationRequired } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { Config } from '../../../config/config.ts';
import { admin, adminReauthenticated, adminReauthenticatedWhere } from '../../access.ts';
import { plainAddressesIn } from '../../plain-addresses.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { notificationSettingsChanges, smtpPasswordText } from './notification-settings-body.ts';
import { testDelivery, testDeliveryView, type TestDeliveryDependencies } from './test-delivery.ts';

export interface NotificationSettingsRouteDependencies extends TestDeliveryDependencies {
  readonly config: Pick<Config, 'devMode'>;
  readonly vault: Pick<Vault, 'get'>;
}

/** The settings as the write side holds them, with the whole address of the webhook. */
async function wholeAddress(
  { loader, vault }: Pick<NotificationSettingsRouteDependencies, 'loader' | 'vault'>,
  tenantId: TenantId,
): Promise<{ readonly of: string | null; readonly address: string | null }> {
  const settings = await loader.load(notificationSettings, notificationSettingsStream(tenantId));
  return { of: settings.webhookUrlRef, address: await webhookAddressOf(settings, vault, tenantId) };
}

/** For who may change it. Settings that show another origin are of another moment: they stay as they are. */
async function withWholeAddress(
  services: Pick<NotificationSettingsRouteDependencies, 'loader' | 'vault'>,
  tenantId: TenantId,
  shown: NotificationSettingsView,
): Promise<NotificationSettingsView> {
  const { of, address } = await wholeAddress(services, tenantId);
  return of !== null && address !== null && originOnly(address) === shown.webhookUrl
    ? { ...shown, webhookUrl: address }
    : shown;
}

const route = routeWith<NotificationSettingsRouteDependencies>();

export const alertNotificationsBase = '/api/v1/admin/alert-notifications';
const base = alertNotificationsBase;
const configured = z.object({ configured: z.literal(true) });

/** How a tenant is notified of its alerts (choices OP-181 to OP-185). */
export const notificationSettingsRoutes: RouteGroup<NotificationSettingsRouteDependencies> = {
  area: 'alert-notifications',
  routes: [
    route({
      method: 'GET',
      path: `${base}/settings`,
      access: admin('notifications:read'),
      summary: 'Get the settings of alert notifications',
      description:
        'Passwords and secrets show only as configured. `emailEnabled` is the `alertEmailEnabled` of the tenant. Who may not change the settings sees of `webhookUrl` only the origin.',
      response: notificationSettingsView,
      tagged: taggedNotificationSettings,
      handle: async ({ ask, services, principal: { role, tenantId } }) => {
        const settings = await ask(getNotificationSettings, { now: Date.now() });
        // Its path is often a capability: a client that knows the address can post to the channel behind it.
        return permits(role, 'notifications:write')
          ? withWholeAddress(services, tenantId, settings)
          : { ...settings, webhookUrl: originOnly(settings.webhookUrl) as string | null };
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/settings`,
      access: adminReauthenticatedWhere(
        'notifications:write',
        '`emailEnabled` becomes false, a recipient is added, `webhookUrl`, a field of the mail server, `smtpPassword`, `…AllowPrivateNetwork` or `…CaCertificate` changes, or alerts of type `policy_violation` and severity `high` no longer go where they went',
      ),
      summary: 'Change the settings of alert notifications',
      refuses: ['secret_required_again'],
      description:
        'Fields that are left out keep their values. A change of `smtpHost`, `smtpPort` or `smtpSecurity` requires `smtpPassword` again, or null, if a password is stored (400). Only a super admin may set `…AllowPrivateNetwork`, or change an address while it is set. `webhookEnabled` true ends `webhookDisabled`.',
      body: notificationSettingsChanges,
      judge: (body, { config }) => plainAddressesIn(body, ['webhookUrl'], config),
      response: notificationSettingsView,
      tagged: taggedNotificationSettings,
      handle: async ({ run, ask, services, principal, body: { emailEnabled, smtpPassword, ...changes } }) => {
        const { values } = await services.loader.load(
          tenantSettings.aggregate,
          tenantSettings.stream(principal.tenantId),
        );
        // The entity tag stands for both records. The first command compares it, so the second one does not.
        const before = { emailEnabled: values.alertEmailEnabled, now: Date.now() };
        const known = await wholeAddress(services, principal.tenantId);
        const shown = (settings: NotificationSettings) => {
          const tagged = shownNotificationSettings(settings, before);
          return settings.webhookUrlRef === known.of ? { ...tagged, webhookUrl: known.address } : tagged;
        };
        const { reauthenticated, role, tenantId } = principal;
        if (emailEnabled === false && values.alertEmailEnabled && !reauthenticated)
          throw new FailureError(reauthenticationRequired());
        const asked = { changes, smtpPassword, reauthenticated, isSuperAdmin: role === 'super_admin' };
        await run({ ...changeNotificationSettings, shown }, asked);
        const { shown: _, ...changeTenant } = tenantSettings.update;
        if (emailEnabled !== undefined)
          await run(changeTenant, { changes: { alertEmailEnabled: emailEnabled }, reauthenticated });
        return withWholeAddress(services, tenantId, await ask(getNotificationSettings, { now: Date.now() }));
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/smtp-password`,
      access: adminReauthenticated('notifications:write'),
      summary: 'Set the SMTP password',
      operation: 'setSmtpPassword',
      description: 'Stored in the vault and never returned.',
      body: z.object({ password: smtpPasswordText }),
      response: configured,
      handle: async ({ run, body: { password } }) => {
        await run(changeSmtpPassword, { password });
        return { configured: true };
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/webhook-secret`,
      access: adminReauthenticated('notifications:write'),
      summary: 'Set or rotate the webhook secret',
      operation: 'setWebhookSecret',
      description:
        'At least 16 characters, or `whsec_` and base64 of 24 to 64 bytes. Never returned. For 24 hours the former secret signs too (`formerSecretUntil`); null: there was none.',
      body: z.object({ secret: webhookSecretText }),
      response: configured.extend({ formerSecretUntil: z.iso.datetime().nullable() }),
      handle: async ({ run, ask, body: { secret } }) => {
        await run(rotateWebhookSecret, { secret });
        const { webhookRotationEndsAt } = await ask(getNotificationSettings, { now: Date.now() });
        return { configured: true, formerSecretUntil: webhookRotationEndsAt };
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test-email`,
      access: admin('notifications:write'),
      summary: 'Send a test by e-mail',
      operation: 'testEmail',
      refuses: ['channel_not_configured'],
      description:
        'One attempt, also while e-mail is off: to `to`, otherwise to the first recipient of the settings, otherwise to the caller. `message` says what became of it. 400 if mail server or sender are not configured.',
      body: z.object({ to: emailField.nullish() }).nullish(),
      response: testDeliveryView,
      handle: async (call) => {
        const { smtpHost, smtpFrom, emailRecipients } = await call.ask(getNotificationSettings, { now: Date.now() });
        const missing = notConfigured({ smtpHost: smtpHost === null, smtpFrom: smtpFrom === null });
        if (missing) throw new FailureError(missing);
        const { adminId } = call.principal;
        const address = call.body?.to ?? emailRecipients[0] ?? (await call.ask(getAdminUser, { adminId })).email;
        return testDelivery(call, 'email', { kind: 'email', address });
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test-webhook`,
      access: admin('notifications:write'),
      summary: 'Send a test to the webhook',
      operation: 'testWebhook',
      refuses: ['channel_not_configured'],
      description:
        'One attempt, also while the webhook is off. `message` says what became of it. 400 if address or secret are not configured.',
      body: z.object({}).nullish(),
      response: testDeliveryView,
      handle: async (call) => {
        const { webhookUrl, webhookSecretConfigured } = await call.ask(getNotificationSettings, { now: Date.now() });
        const missing = notConfigured({ webhookUrl: webhookUrl === null, webhookSecret: !webhookSecretConfigured });
        if (missing) throw new FailureError(missing);
        return testDelivery(call, 'webhook', { kind: 'webhook' });
      },
    }),
  ],
};
