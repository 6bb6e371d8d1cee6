import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { ssoEvents } from '../../sso/domain/events.ts';
import { governs } from '../../admins/domain/administration.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';
import { logDestinationEvents } from '../../log-destinations/domain/events.ts';
import { notificationSettingsEvents, WAYS_OUT } from '../../notifications/domain/settings.ts';
import { onCallEvents } from '../../on-call/domain/events.ts';
import { scimClientEvents } from '../../scim/domain/client-events.ts';
import { agentSecretEvents } from '../../enrollment/domain/agent-secret.ts';
import { tenantSettings } from '../../settings/domain/tenant-settings.resource.ts';
import type { EventOf, RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction, effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';

/**
 * UUIDv5 namespace (RFC 9562 §5.5). The id derives from the event, so raising the alert twice has no further effect.
 */
const ALERTS = 'c2b0a7f4-5d5e-4a5c-9f0e-6a5b0c2f4d11';

interface Change {
  /** Machine-readable name of the change. */
  readonly change: string;
  readonly title: string;
  readonly isSevere: boolean;
  /** The account or configuration that changed. */
  readonly about: Readonly<Record<string, string>>;
  /** What it decides, in a sentence. */
  readonly decides?: string;
}

const SIGN_IN = 'This decides who can sign in.';
const WAY_OUT = 'This decides where data of your organization is sent.';
const WATCH = 'This decides who hears of an attack on your organization.';

/** One alert per change: two changes within a day each need an explanation. */
function alerting(
  event: RecordedEvent,
  { change, title, isSevere, about, decides = SIGN_IN }: Change,
): { effects: readonly Effect[] }[] {
  const { actor } = event.metadata;
  const raise = effect(raiseAlert, {
    alertId: v5(`${event.tenantId}|${event.id}`, ALERTS),
    alertType: 'policy_violation',
    severity: isSevere ? 'high' : null,
    title,
    description: `${decides} If nobody in your team did it on purpose, end the sessions of the account that made the change, reset its password, and undo the change. The audit log names the address it came from.`,
    fingerprint: `policy_violation|||account_control|${event.id}`,
    userId: null,
    deviceId: null,
    domain: null,
    url: null,
    cause: event.id,
    metadata: {
      kind: 'account_control_changed',
      change,
      ...about,
      actorKind: actor.kind,
      actorId: actor.id,
      observedAt: at(event),
      observationIds: [],
    },
  });
  return [{ effects: [raise] }];
}

const aboutAdmin = (event: RecordedEvent, change: string, title: string, isSevere = true) =>
  alerting(event, { change, title, isSevere, about: { adminId: (event.data as { adminId: string }).adminId } });
const aboutProvider = (event: RecordedEvent, change: string, title: string) =>
  alerting(event, {
    change,
    title,
    isSevere: true,
    about: { configId: (event.data as { configId: string }).configId },
  });
const aboutAuthority = (event: RecordedEvent, change: string, title: string) =>
  alerting(event, {
    change,
    title,
    isSevere: true,
    about: { fingerprintSha256: (event.data as { fingerprintSha256: string }).fingerprintSha256 },
  });

const aboutWayOut = (
  event: RecordedEvent,
  change: string,
  title: string,
  about: Readonly<Record<string, string>> = {},
) => alerting(event, { change, title, isSevere: true, about, decides: WAY_OUT });

const aboutWatch = (
  event: RecordedEvent,
  change: string,
  title: string,
  about: Readonly<Record<string, string>> = {},
) => alerting(event, { change, title, isSevere: true, about, decides: WATCH });

const aboutDestination = ({ data }: RecordedEvent) => ({
  destinationId: (data as { destinationId: string }).destinationId,
});

type SettingsChange = Extract<
  EventOf<typeof notificationSettingsEvents>,
  { type: 'AlertNotificationSettingsChanged' }
>['data'];

/** As `leadsElsewhere` in the settings: the event holds the changed fields only. */
const MOVES_MESSAGES = ['emailRecipients', ...WAYS_OUT, 'smtpPasswordRef'] as const;

const aboutNewAdmin = (event: RecordedEvent, isGoverning: boolean) =>
  aboutAdmin(
    event,
    'admin_created',
    isGoverning ? 'An account that administers others was created' : 'An account of an administrator was created',
    isGoverning,
  );
const aboutClient = (event: RecordedEvent, change: string, title: string) =>
  alerting(event, {
    change,
    title,
    isSevere: true,
    about: { clientId: (event.data as { clientId: string }).clientId },
  });

/** A destination that is moved and silenced at once is reported as moved: the address is the graver half. */
function aboutChangedDestination(event: RecordedEvent, data: { isMoved?: boolean; isSilenced?: boolean }) {
  if (data.isMoved === true)
    return aboutWayOut(
      event,
      'log_destination_moved',
      'The log is forwarded to another address',
      aboutDestination(event),
    );
  return data.isSilenced === true
    ? aboutWatch(
        event,
        'log_destination_silenced',
        'A destination no longer gets alerts or audit entries',
        aboutDestination(event),
      )
    : [];
}

function aboutNotifications(event: RecordedEvent, data: SettingsChange) {
  if (MOVES_MESSAGES.some((field) => data[field] !== undefined && data[field] !== null))
    return aboutWayOut(event, 'notifications_moved', 'Recipients or servers of alert notifications were changed');
  return data.isSilenced === true
    ? aboutWatch(event, 'notifications_silenced', 'Alert notifications no longer go where they went')
    : [];
}

/**
 * Raises an alert for every change of who controls an account or who can sign in, of where data is sent, and of who hears
 * of attacks. An attacker with a stolen session and password cannot make such a change unnoticed. Decision 0129;
 * `test/laws/watched-changes.ts` has the reason for each event without an alert.
 */
export const whenAccountControlChangesRaiseAlert = defineReaction({
  name: 'account-control-alerts',
  lane: 'main',
  families: [
    tenantEvents,
    ssoEvents,
    scimClientEvents,
    agentSecretEvents,
    logDestinationEvents,
    notificationSettingsEvents,
    onCallEvents,
    tenantSettings.events,
  ],
  on: {
    // The first admin is created with the tenant; there is nobody to alert yet.
    AdminUserCreated: (event) =>
      event.metadata.actor.kind === 'system' ? [] : aboutNewAdmin(event, governs(event.data.roleType)),
    AdminUserUpdated: (event) =>
      event.data.accountDigest === undefined
        ? []
        : aboutAdmin(event, 'email_changed', "An administrator's sign-in e-mail was changed"),
    AdminRoleChanged: (event) =>
      aboutAdmin(event, 'role_changed', "An administrator's role was changed", governs(event.data.roleType)),
    AdminSuspended: (event) => aboutAdmin(event, 'admin_suspended', 'An administrator was suspended', false),
    AdminReinstated: (event) =>
      aboutAdmin(event, 'admin_reinstated', 'A suspended administrator was reinstated', false),
    AdminUserDeleted: (event) => aboutAdmin(event, 'admin_deleted', 'An administrator was deleted', false),
    // The owner choosing a password after a forced change is not reported.
    AdminPasswordChanged: (event) =>
      event.data.reason === 'changed'
        ? []
        : aboutAdmin(
            event,
            `password_${event.data.reason}`,
            "An administrator's password was replaced by a temporary one",
          ),
    AdminMfaEnabled: (event) => aboutAdmin(event, 'mfa_enabled', 'An administrator set up a second factor'),
    // A recovery is reported by the event of the replaced password.
    AdminMfaDisabled: (event) =>
      event.data.reason === 'recovered'
        ? []
        : aboutAdmin(event, 'mfa_disabled', 'An administrator turned the second factor off'),
    TenantBaseUrlChanged: (event) =>
      alerting(event, {
        change: 'base_url_changed',
        title: 'The address of the service, to which single sign-on returns, was changed',
        isSevere: true,
        about: { externalBaseUrl: event.data.externalBaseUrl },
      }),
    LogDestinationCreated: (event) =>
      aboutWayOut(event, 'log_destination_added', 'The log is forwarded to another destination', {
        destinationId: event.data.destinationId,
      }),
    LogDestinationUpdated: (event) => aboutChangedDestination(event, event.data),
    LogDestinationDeleted: (event) =>
      aboutWatch(event, 'log_destination_removed', 'A destination of the log was removed', aboutDestination(event)),
    AlertNotificationSettingsChanged: (event) => aboutNotifications(event, event.data),
    SmtpPasswordChanged: (event) =>
      aboutWayOut(
        event,
        'smtp_password_changed',
        'The password for the mail server of alert notifications was changed',
      ),
    WebhookSecretRotated: (event) =>
      aboutWayOut(event, 'webhook_secret_changed', 'The secret that signs messages to the webhook was changed'),
    TenantSettingsUpdated: (event) =>
      event.data.alertEmailEnabled === false
        ? aboutWatch(event, 'alert_email_switched_off', 'E-mail about alerts was switched off')
        : [],
    OnCallCalendarShared: (event) =>
      aboutWayOut(event, 'on_call_calendar_shared', 'The calendar of an on-call schedule got an address', {
        scheduleId: event.data.scheduleId,
      }),
    ScimClientCreated: (event) => aboutClient(event, 'scim_client_added', 'A client that provisions people was added'),
    ScimClientSecretIssued: (event) =>
      aboutClient(event, 'scim_client_secret_issued', 'A client that provisions people got another secret'),
    AgentSecretIssued: (event) =>
      alerting(event, {
        change: 'agent_secret_issued',
        title: 'A secret with which agents enroll browsers was issued',
        isSevere: true,
        about: { secretId: event.data.secretId },
        decides: 'This decides which browsers belong to your people.',
      }),
    SsoConfigCreated: (event) => aboutProvider(event, 'identity_provider_added', 'An identity provider was added'),
    SsoConfigUpdated: (event) => aboutProvider(event, 'identity_provider_changed', 'An identity provider was changed'),
    SsoConfigDeleted: (event) => aboutProvider(event, 'identity_provider_removed', 'An identity provider was removed'),
    CertificateAuthorityInstalled: (event) =>
      event.data.source === 'uploaded'
        ? aboutAuthority(
            event,
            'certificate_authority_installed',
            'Another certificate authority signs device certificates',
          )
        : [],
    CertificateAuthorityRemoved: (event) =>
      aboutAuthority(
        event,
        'certificate_authority_removed',
        'The certificate authority for device certificates was removed',
      ),
  },
});
