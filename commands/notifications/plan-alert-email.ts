import type { AlertChange } from '../../src/contexts/notifications/domain/alert-change.ts';
import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import type { Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { notificationIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import { notifiedAlert } from '../../src/contexts/notifications/domain/notified-alert.ts';
import {
  notificationStream,
  plannedNotification,
} from '../../src/contexts/notifications/domain/planned-notification.ts';
import { isEmailReady, isWanted } from '../../src/contexts/notifications/domain/settings.ts';
import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates, WithOutbox } from '../ports.ts';

interface Facts {
  /** Undefined: no person is to be notified. */
  readonly severity: Severity | undefined;
  readonly addresses: readonly string[];
}

const NOBODY: Facts = { severity: undefined, addresses: [] };

/** Plans the e-mails about an event of an alert, if the tenant wants them now. */
export const planAlertEmail = defineCommand({
  name: 'AlertChange',
  aggregate: plannedNotification,
  stream: ({ eventId }: AlertChange, { tenantId }) => notificationStream(tenantId, eventId, 'email'),
  prepare: async (
    { alertId, severity }: AlertChange,
    { aggregates, outbox }: WithAggregates & WithOutbox,
    { tenantId },
  ) => {
    const settings = await outbox.settings(tenantId);
    if (!isEmailReady(settings)) return NOBODY;
    const { values } = await aggregates.load(tenantSettings.aggregate, tenantSettings.stream(tenantId));
    const known = await aggregates.load(notifiedAlert, alertStream(tenantId, alertId));
    if (!values.alertEmailEnabled || !known) return NOBODY;
    const now = severity ?? known.severity;
    if (!isWanted(settings.values, known.alertType, now)) return NOBODY;
    return { severity: now, addresses: settings.values.emailRecipients } satisfies Facts;
  },
  isNeedless: ({ severity, addresses }: Facts) => severity === undefined || addresses.length === 0,
  decide({ isPlanned }, { alertId, eventId, change, occurredAt }, { tenantId }, { severity, addresses }: Facts) {
    if (isPlanned || severity === undefined || addresses.length === 0) return accept([]);
    return accept([
      {
        type: 'NotificationPlanned',
        data: {
          notificationId: notificationIdOf(tenantId, eventId, 'email'),
          channel: 'email',
          cause: eventId,
          subject: { kind: 'alert', alertId, eventId, change, severity, occurredAt },
          recipients: addresses.map((address) => ({ kind: 'email' as const, address })),
        },
      },
    ]);
  },
});
