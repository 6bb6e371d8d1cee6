import {
  notificationSettings,
  notificationSettingsStream,
  smtpPasswordLocation,
} from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithVault } from '../ports.ts';

/** Stores the password for the SMTP server (choice OP-182). */
export const changeSmtpPassword = defineCommand({
  name: 'ChangeSmtpPassword',
  aggregate: notificationSettings,
  stream: (_input: { readonly password: string }, { tenantId }) => notificationSettingsStream(tenantId),
  prepare: async ({ password }: { readonly password: string }, { vault }: WithVault, { tenantId }) => ({
    passwordRef: await vault.put(tenantId, smtpPasswordLocation, password),
  }),
  decide({ smtpPasswordRef }, _input, _context, { passwordRef }) {
    return accept([{ type: 'SmtpPasswordChanged', data: { passwordRef } }], { forget: [smtpPasswordRef] });
  },
  freshens: ['alert_notification_settings'],
});
