import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import {
  alertTypes,
  alertTypeSchema,
  severities,
  severitySchema,
  type AlertType,
  type Severity,
} from '../../alerts/domain/vocabulary.ts';

export const smtpSecurities = ['none', 'starttls', 'tls'] as const;

/** As events hold them: without limits, which may become stricter. `emailEnabled` is the tenant's `alertEmailEnabled`. */
const stored = {
  emailRecipients: z.array(z.string()),
  minSeverity: severitySchema,
  /** Empty: all types. */
  alertTypes: z.array(alertTypeSchema),
  smtpHost: z.string().nullable(),
  smtpPort: z.int(),
  smtpSecurity: z.enum(smtpSecurities),
  smtpUsername: z.string().nullable(),
  smtpFrom: z.string().nullable(),
  smtpAllowPrivateNetwork: z.boolean(),
  smtpCaCertificate: z.string().nullable(),
  webhookEnabled: z.boolean(),
  webhookUrl: z.string().nullable(),
  webhookAllowPrivateNetwork: z.boolean(),
  webhookCaCertificate: z.string().nullable(),
  pushEnabled: z.boolean(),
};
const values = z.object(stored);
export type NotificationValues = z.output<typeof values>;

/** Settings of alert notifications. Passwords and keys are in the vault; events hold references. */
export const notificationSettingsEvents = defineEvents('alertNotificationSettings', {
  /**
   * The changed fields. `smtpPasswordRef`: null removes the password. `webhookUrl` is the origin if the address has more:
   * then `webhookUrlRef` names the whole one in the vault (decision 0063). Null: `webhookUrl` is whole.
   * `isSilenced`: a way that alerts about a change of control took before is closed. `isNarrowed`: fewer severities or types
   * are told. Absent in older events.
   */
  AlertNotificationSettingsChanged: {
    version: 2,
    schema: values.partial().extend({
      smtpPasswordRef: z.string().nullable().optional(),
      webhookUrlRef: z.string().nullable().optional(),
      isSilenced: z.boolean().optional(),
      isNarrowed: z.boolean().optional(),
    }),
    upcasters: { 1: (data: object) => ('webhookUrl' in data ? { ...data, webhookUrlRef: null } : data) },
    guarded: { webhookUrl: 'address' },
    audit: 'alert_notification_settings.changed',
  },
  SmtpPasswordChanged: {
    version: 1,
    schema: z.object({ passwordRef: z.string() }),
    audit: 'alert_notification_settings.smtp_password_changed',
  },
  /** Both secrets sign until `formerUntil`, so that the receiver can be changed without losing a message. */
  WebhookSecretRotated: {
    version: 1,
    schema: z.object({
      secretRef: z.string(),
      formerRef: z.string().nullable(),
      formerUntil: z.iso.datetime().nullable(),
    }),
    audit: 'alert_notification_settings.webhook_secret_rotated',
  },
  /** The receiver said that it is gone for good (status 410). */
  WebhookDisabled: {
    version: 1,
    schema: z.object({ reason: z.enum(['gone']), disabledAt: z.iso.datetime() }),
    audit: 'alert_notification_settings.webhook_disabled',
  },
});

export interface NotificationSettings {
  readonly values: NotificationValues;
  readonly smtpPasswordRef: string | null;
  /** The whole address of the webhook; null: `values.webhookUrl` is whole. */
  readonly webhookUrlRef: string | null;
  readonly webhookSecretRef: string | null;
  readonly formerSecretRef: string | null;
  /** RFC 3339. */
  readonly formerSecretUntil: string | null;
  /** Why and when the webhook was switched off; null once an administrator has switched it on again. */
  readonly webhookDisabled: { readonly reason: 'gone'; readonly at: string } | null;
}

export const initialNotificationValues: NotificationValues = {
  emailRecipients: [],
  minSeverity: 'low',
  alertTypes: [],
  smtpHost: null,
  smtpPort: 587,
  smtpSecurity: 'starttls',
  smtpUsername: null,
  smtpFrom: null,
  smtpAllowPrivateNetwork: false,
  smtpCaCertificate: null,
  webhookEnabled: false,
  webhookUrl: null,
  webhookAllowPrivateNetwork: false,
  webhookCaCertificate: null,
  pushEnabled: false,
};

const initial: NotificationSettings = {
  values: initialNotificationValues,
  smtpPasswordRef: null,
  webhookUrlRef: null,
  webhookSecretRef: null,
  formerSecretRef: null,
  formerSecretUntil: null,
  webhookDisabled: null,
};

export const notificationSettings = defineAggregate<NotificationSettings, typeof notificationSettingsEvents>(
  notificationSettingsEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'AlertNotificationSettingsChanged': {
        const {
          smtpPasswordRef = state.smtpPasswordRef,
          webhookUrlRef = state.webhookUrlRef,
          isSilenced: _silenced,
          isNarrowed: _narrowed,
          ...changed
        } = event.data;
        return {
          ...state,
          values: { ...state.values, ...(changed as Partial<NotificationValues>) },
          smtpPasswordRef,
          webhookUrlRef,
          webhookDisabled: changed.webhookEnabled === true ? null : state.webhookDisabled,
        };
      }
      case 'SmtpPasswordChanged':
        return { ...state, smtpPasswordRef: event.data.passwordRef };
      case 'WebhookSecretRotated': {
        const { secretRef, formerRef, formerUntil } = event.data;
        return { ...state, webhookSecretRef: secretRef, formerSecretRef: formerRef, formerSecretUntil: formerUntil };
      }
      case 'WebhookDisabled': {
        const { reason, disabledAt } = event.data;
        return {
          ...state,
          values: { ...state.values, webhookEnabled: false },
          webhookDisabled: { reason, at: disabledAt },
        };
      }
    }
  },
);

/** Each tenant has one such stream. */
export const notificationSettingsStream = (tenantId: TenantId): string =>
  streamName('alertNotificationSettings', tenantId, tenantId);

const place = (field: string) => ({ owner: 'alertNotificationSettings', field });
export const smtpPasswordLocation = place('smtpPassword');
export const webhookSecretLocation = place('webhookSecret');
export const webhookUrlLocation = place('webhookUrl');

/** For this long after a rotation both secrets sign. */
export const FORMER_SECRET_MS = 24 * 3_600_000;

/** Fields to which the SMTP password is sent: a change of one of them does not keep a stored password. */
export const SMTP_ADDRESS = ['smtpHost', 'smtpPort', 'smtpSecurity'] as const;

/** Fields that decide where messages go, and what protects them on the way. */
export const WAYS_OUT = [
  ...SMTP_ADDRESS,
  'smtpUsername',
  'smtpFrom',
  'smtpAllowPrivateNetwork',
  'smtpCaCertificate',
  'webhookUrl',
  'webhookAllowPrivateNetwork',
  'webhookCaCertificate',
] as const;

/** Messages would reach somebody, or go through a server, that they did not before (OP-552). Removals are no such change. */
export const leadsElsewhere = (before: NotificationValues, after: NotificationValues): boolean =>
  after.emailRecipients.some((one) => !before.emailRecipients.includes(one)) ||
  WAYS_OUT.some((field) => after[field] !== null && after[field] !== before[field]);

/** Whether e-mail and the webhook tell of alerts of this type and severity. */
export const isWanted = (
  { minSeverity, alertTypes }: Pick<NotificationValues, 'minSeverity' | 'alertTypes'>,
  alertType: AlertType,
  severity: Severity,
): boolean =>
  severities.indexOf(severity) <= severities.indexOf(minSeverity) &&
  (alertTypes.length === 0 || alertTypes.includes(alertType));

/** Switched on, with an address and a secret. */
export const isWebhookReady = ({
  values: { webhookEnabled, webhookUrl },
  webhookSecretRef,
}: NotificationSettings): boolean => webhookEnabled && webhookUrl !== null && webhookSecretRef !== null;

/** With a mail server, a sender and somebody to write to. Whether e-mail is on is a setting of the tenant. */
export const isEmailReady = ({ values: { smtpHost, smtpFrom, emailRecipients } }: NotificationSettings): boolean =>
  smtpHost !== null && smtpFrom !== null && emailRecipients.length > 0;

/** The alerts that report an attack on the tenant itself. */
const WATCH = { alertType: 'policy_violation', severity: 'high' } as const;

const waysOfWatch = (settings: NotificationSettings): readonly string[] => {
  const { values } = settings;
  const isSent = isWanted(values, WATCH.alertType, WATCH.severity);
  return [
    ...(isSent && isEmailReady(settings)
      ? values.emailRecipients.map((one) => `mail ${one} as ${values.smtpUsername ?? ''}`)
      : []),
    ...(isSent && isWebhookReady(settings) ? ['webhook'] : []),
    ...(values.pushEnabled ? ['push'] : []),
  ];
};

/** A recipient of alerts about attacks no longer gets them, or not in this way (OP-436). */
export const silencesWatch = (before: NotificationSettings, after: NotificationSettings): boolean => {
  const open = new Set(waysOfWatch(after));
  return waysOfWatch(before).some((way) => !open.has(way));
};

const typesOf = ({ alertTypes: types }: NotificationValues): readonly AlertType[] =>
  types.length === 0 ? alertTypes : types;

/** E-mail and the webhook tell of fewer severities or types of alerts than before. */
export const narrows = (before: NotificationValues, after: NotificationValues): boolean =>
  severities.indexOf(after.minSeverity) < severities.indexOf(before.minSeverity) ||
  typesOf(before).some((type) => !typesOf(after).includes(type));
