import { z } from 'zod';
import type { NotificationSettingsRow } from '../../projections/notifications/alert-notification-settings.ts';
import { alertTypeSchema, severitySchema } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  notificationSettings,
  smtpSecurities,
  type NotificationSettings,
} from '../../src/contexts/notifications/domain/settings.ts';
import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Settings of alert notifications (choice OP-181). Passwords and secrets show only as configured. */
export const notificationSettingsView = z
  .object({
    /** The tenant's `alertEmailEnabled`. */
    emailEnabled: z.boolean(),
    emailRecipients: z.array(z.string()),
    minSeverity: severitySchema,
    /** Empty: all types. */
    alertTypes: z.array(alertTypeSchema),
    smtpHost: z.string().nullable(),
    smtpPort: z.int(),
    smtpSecurity: z.enum(smtpSecurities),
    smtpUsername: z.string().nullable(),
    smtpFrom: z.string().nullable(),
    smtpPasswordConfigured: z.boolean(),
    smtpAllowPrivateNetwork: z.boolean(),
    smtpCaCertificate: z.string().nullable(),
    webhookEnabled: z.boolean(),
    webhookUrl: z.string().nullable(),
    webhookSecretConfigured: z.boolean(),
    /** Until then the former secret signs too; null: there is no rotation under way. */
    webhookRotationEndsAt: z.iso.datetime().nullable(),
    /** Why and when the service switched the webhook off; null unless it did. `gone`: the receiver returned 410. */
    webhookDisabled: z.object({ reason: z.enum(['gone']), at: z.iso.datetime() }).nullable(),
    webhookAllowPrivateNetwork: z.boolean(),
    webhookCaCertificate: z.string().nullable(),
    pushEnabled: z.boolean(),
    updatedAt: z.iso.datetime().nullable(),
    updatedBy: z.uuid().nullable(),
  })
  .meta({ title: 'AlertNotificationSettings' });
export type NotificationSettingsView = z.output<typeof notificationSettingsView>;

const SQL = 'select * from alert_notification_settings where tenant_id = $1';

export const getNotificationSettings: Query<{ readonly now: number }, NotificationSettingsView> = async (
  reads,
  { now },
) => {
  const [row, tenant] = await Promise.all([
    reads.one<NotificationSettingsRow>(SQL),
    tenantSettings.read(reads, undefined),
  ]);
  if (isFailure(tenant)) return tenant;
  const settings = row?.settings ?? notificationSettings.initial;
  return {
    ...shownNotificationSettings(settings, { emailEnabled: tenant.alertEmailEnabled, now }),
    updatedAt: row?.updated_at ?? null,
    updatedBy: row?.updated_by ?? null,
  };
};

type ShownSettings = Omit<NotificationSettingsView, 'updatedAt' | 'updatedBy'>;

/** What the entity tag stands for: everything but who changed the settings, and when. */
export const taggedNotificationSettings = ({
  updatedAt: _at,
  updatedBy: _by,
  ...shown
}: NotificationSettingsView): ShownSettings => shown;

export function shownNotificationSettings(
  settings: NotificationSettings,
  { emailEnabled, now }: { readonly emailEnabled: boolean; readonly now: number },
): ShownSettings {
  const { formerSecretRef, formerSecretUntil } = settings;
  const isRotating = formerSecretRef !== null && formerSecretUntil !== null && Date.parse(formerSecretUntil) > now;
  return {
    ...notificationSettings.initial.values,
    ...settings.values,
    emailEnabled,
    smtpPasswordConfigured: settings.smtpPasswordRef !== null,
    webhookSecretConfigured: settings.webhookSecretRef !== null,
    webhookRotationEndsAt: isRotating ? formerSecretUntil : null,
    webhookDisabled: settings.webhookDisabled,
  };
}
