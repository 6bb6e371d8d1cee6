import { expect, it } from 'vitest';
import { whenAccountControlChangesRaiseAlert } from '../../src/contexts/alerts/reactions/when-account-control-changes-raise-alert.ts';
import { agentSecretEvents } from '../../src/contexts/enrollment/domain/agent-secret.ts';
import { logDestinationEvents } from '../../src/contexts/log-destinations/domain/events.ts';
import { mobileEvents } from '../../src/contexts/mobile/domain/events.ts';
import { notificationSettingsEvents } from '../../src/contexts/notifications/domain/settings.ts';
import { onCallEvents } from '../../src/contexts/on-call/domain/events.ts';
import { scimClientEvents } from '../../src/contexts/scim/domain/client-events.ts';
import { mobileAccessEvents } from '../../src/contexts/settings/domain/mobile-access.ts';
import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import { ssoEvents } from '../../src/contexts/sso/domain/events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { NOT_WATCHED } from './watched-changes.ts';

/** Who controls the tenant, where its data goes, and who hears of an attack on it. */
const families = [
  tenantEvents,
  ssoEvents,
  scimClientEvents,
  agentSecretEvents,
  logDestinationEvents,
  notificationSettingsEvents,
  onCallEvents,
  mobileAccessEvents,
  mobileEvents,
  tenantSettings.events,
];
const types = families.flatMap(({ definitions }) => Object.keys(definitions));

/** OP-436. */
it('each change of control, of a way out or of a watch raises an alert, or says why it raises none', () => {
  const watched = Object.keys(whenAccountControlChangesRaiseAlert.on);
  expect(
    types.filter((type) => watched.includes(type) === type in NOT_WATCHED),
    'handle the event in account-control-alerts, or state in test/laws/watched-changes.ts why it raises no alert',
  ).toEqual([]);
  expect(Object.keys(NOT_WATCHED).filter((type) => !types.includes(type))).toEqual([]);
});
