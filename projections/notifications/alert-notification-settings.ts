import {
  notificationSettings,
  notificationSettingsEvents,
  type NotificationSettings,
} from '../../src/contexts/notifications/domain/settings.ts';
import type { EventOf, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { at, defineReadModel, id, json, nullable, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  id,
  /** The folded settings. References to secrets name entries of the vault; they are no secrets. */
  settings: json<NotificationSettings>(),
  updated_by: nullable(id),
  updated_at: timestamp,
};
export type NotificationSettingsRow = Row<{ columns: typeof columns }>;

const changed = (event: RecordedEvent<EventOf<typeof notificationSettingsEvents>>) => ({
  key: { id: event.tenantId },
  fold: (row: NotificationSettingsRow | undefined) => ({
    id: event.tenantId,
    settings: notificationSettings.fold(row?.settings ?? notificationSettings.initial, event),
    updated_by: event.metadata.actor.id,
    updated_at: at(event),
  }),
});

/** Settings of alert notifications, one row for each tenant that changed them. */
export const alertNotificationSettings = defineReadModel({
  name: 'alert_notification_settings',
  version: 2,
  lane: 'main',
  columns,
  key: ['id'],
  families: [notificationSettingsEvents],
  on: {
    AlertNotificationSettingsChanged: changed,
    SmtpPasswordChanged: changed,
    WebhookSecretRotated: changed,
    WebhookDisabled: changed,
  },
});
