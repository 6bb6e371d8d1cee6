import { z } from 'zod';
import { alertTypeSchema, alertTypes, severitySchema } from '../../../../contexts/alerts/domain/vocabulary.ts';
import { emailField } from '../../../../contexts/identity/domain/password-rule.ts';
import { smtpSecurities } from '../../../../contexts/notifications/domain/settings.ts';
import { authorityCertificates } from '../../../../contexts/sso/domain/fields.ts';
import { CONCEALED } from '../../../../platform/kernel/guarded-fields.ts';
import { addressField } from '../../../../platform/web-addresses/address-field.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';

const MAX_RECIPIENTS = 50;

const distinct = (texts: readonly string[]): boolean =>
  new Set(texts.map((text) => text.toLowerCase())).size === texts.length;

/** Without control characters: neither header nor command of the protocol can be injected. */
const line = z
  .string()
  .trim()
  .min(1)
  .max(320)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters');

export const smtpPasswordText = z
  .string()
  .min(1)
  .max(1_024)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
  .refine((text) => text !== CONCEALED, `must not be ${CONCEALED}: leave it out to keep the stored one`);

/** Choice OP-181. Fields that are left out keep their values. */
export const notificationSettingsChanges = z.object({
  emailEnabled: z.boolean().optional(),
  emailRecipients: z.array(emailField).max(MAX_RECIPIENTS).refine(distinct, 'must be different addresses').optional(),
  minSeverity: severitySchema.optional(),
  alertTypes: z.array(alertTypeSchema).max(alertTypes.length).refine(distinct, 'must be different types').optional(),
  smtpHost: hostField().nullable().optional(),
  smtpPort: z.int().min(1).max(65_535).optional(),
  smtpSecurity: z.enum(smtpSecurities).optional(),
  smtpUsername: line.nullable().optional(),
  smtpFrom: emailField.nullable().optional(),
  smtpPassword: smtpPasswordText.nullable().optional(),
  smtpAllowPrivateNetwork: z.boolean().optional(),
  smtpCaCertificate: authorityCertificates.nullable().optional(),
  webhookEnabled: z.boolean().optional(),
  webhookUrl: addressField().nullable().optional(),
  webhookAllowPrivateNetwork: z.boolean().optional(),
  webhookCaCertificate: authorityCertificates.nullable().optional(),
  pushEnabled: z.boolean().optional(),
});
