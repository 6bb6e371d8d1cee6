import { ssoEvents } from '../../sso/domain/events.ts';
import { governs } from '../../admins/domain/administration.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';
import { logDestinationEvents } from '../../log-destinations/domain/events.ts';
import { notificationSettingsEvents, WAYS_OUT } from '../../notifications/domain/settings.ts';
import { onCallEvents } from '../../on-call/domain/events.ts';
import { scimClientEvents } from '../../scim/domain/client-events.ts';
import { serverCertificateEvents } from '../../certificates/domain/server-certificate.ts';
import { agentSecretEvents } from '../../enrollment/domain/agent-secret.ts';
import { mobileEvents } from '../../mobile/domain/events.ts';
import { alertSeverityEvents } from '../../settings/domain/alert-severity.ts';
import { silencedResources, watchFamilies } from './silenced-resources.ts';
import { mobileAccessEvents } from '../../settings/domain/mobile-access.ts';
import type { EventOf, RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import {
  accountControlAlert,
  aboutAdmin,
  aboutProvider,
  aboutAuthority,
  aboutWayOut,
  aboutWatch,
  aboutDestination,
  aboutClient,
  aboutOrganization,
  aboutProtection,
} from './account-control-alert.ts';

type SettingsChange = Extract<
  EventOf<typeof notificationSettingsEvents>,
  { type: 'AlertNotificationSettingsChanged' }
>['data'];

/** As `leadsElsewhere` in the settings: the event holds the changed fields only. */
const MOVES_MESSAGES = ['emailRecipients', ...WAYS_OUT, 'smtpPasswordRef'] as const;

const aboutSchedule = ({ data }: RecordedEvent) => ({ scheduleId: (data as { scheduleId: string }).scheduleId });

const aboutNewAdmin = (event: RecordedEvent, isGoverning: boolean) =>
  aboutAdmin(
    event,
    'admin_created',
    isGoverning ? 'An account that administers others was created' : 'An account of an administrator was created',
    isGoverning,
  );
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
  if (data.isSilenced === true)
    return aboutWatch(event, 'notifications_silenced', 'Alert notifications no longer go where they went');
  return data.isNarrowed === true
    ? aboutWatch(event, 'notifications_narrowed', 'Alert notifications tell of fewer alerts than before')
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
    serverCertificateEvents,
    logDestinationEvents,
    notificationSettingsEvents,
    onCallEvents,
    mobileAccessEvents,
    mobileEvents,
    alertSeverityEvents,
    ...watchFamilies,
  ],
  on: {
    ...silencedResources,
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
    AdminMobileAccessSet: (event) =>
      event.data.mobileAccess
        ? []
        : aboutWatch(event, 'mobile_access_taken', 'An administrator lost access to the mobile app', {
            adminId: event.data.adminId,
          }),
    MobileAccessByRoleSet: (event) =>
      Object.values(event.data.mobileAccess).includes(false)
        ? aboutWatch(event, 'mobile_access_taken', 'Roles lost access to the mobile app')
        : [],
    OnCallScheduleUpdated: (event) =>
      event.data.isSilenced === true
        ? aboutWatch(
            event,
            'on_call_schedule_silenced',
            'An on-call schedule was switched off, or calls other people, or later',
            aboutSchedule(event),
          )
        : [],
    OnCallScheduleDeleted: (event) =>
      aboutWatch(event, 'on_call_schedule_removed', 'An on-call schedule was deleted', aboutSchedule(event)),
    OnCallOverrideCreated: (event) =>
      event.data.isLong === true
        ? aboutWatch(
            event,
            'on_call_overridden',
            'Somebody stands in for an on-call schedule for a long time',
            aboutSchedule(event),
          )
        : [],
    OnCallOverrideRemoved: (event) =>
      event.data.isLong === true
        ? aboutWatch(
            event,
            'on_call_override_removed',
            'Somebody no longer stands in for an on-call schedule',
            aboutSchedule(event),
          )
        : [],
    AdminMfaEnabled: (event) => aboutAdmin(event, 'mfa_enabled', 'An administrator set up a second factor'),
    // A recovery is reported by the event of the replaced password.
    AdminMfaDisabled: (event) =>
      event.data.reason === 'recovered'
        ? []
        : aboutAdmin(event, 'mfa_disabled', 'An administrator turned the second factor off'),
    TenantBaseUrlChanged: (event) =>
      accountControlAlert(event, {
        change: 'base_url_changed',
        title: 'The address of the service, to which single sign-on returns, was changed',
        isSevere: true,
        about: { externalBaseUrl: event.data.externalBaseUrl },
      }),
    TenantJoinedOrganization: (event) => aboutOrganization(event, event.data),
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
        : silencedResources['TenantSettingsUpdated']!(event),
    ExtensionModeChanged: (event) => aboutProtection(event, event.data.extensionMode),
    AlertSeveritiesSet: (event) =>
      event.data.isSilenced === true
        ? aboutWatch(event, 'alert_severities_lowered', 'Alerts of some types became less severe')
        : [],
    MobilePreferencesSet: (event) =>
      event.data.isSilenced === true
        ? aboutWatch(event, 'mobile_pushes_silenced', 'An administrator is no longer called about attacks', {
            adminId: event.data.adminId,
          })
        : [],
    OnCallCalendarShared: (event) =>
      aboutWayOut(event, 'on_call_calendar_shared', 'The calendar of an on-call schedule got an address', {
        scheduleId: event.data.scheduleId,
      }),
    ScimClientCreated: (event) => aboutClient(event, 'scim_client_added', 'A client that provisions people was added'),
    ScimClientSecretIssued: (event) =>
      aboutClient(event, 'scim_client_secret_issued', 'A client that provisions people got another secret'),
    ScimClientChanged: (event) =>
      event.data.isWidened
        ? aboutClient(event, 'scim_client_widened', 'A client that provisions people was given more scopes')
        : [],
    AgentSecretIssued: (event) =>
      accountControlAlert(event, {
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
    ServerCertificateInstalled: (event) =>
      accountControlAlert(event, {
        change: 'server_certificate_installed',
        title: 'Devices are shown another certificate of the service',
        isSevere: true,
        about: { fingerprintSha256: event.data.fingerprintSha256 },
        decides: 'Whoever has its key can pose as the service, and devices that do not trust it reach nothing.',
      }),
    CertificateAuthorityRemoved: (event) =>
      aboutAuthority(
        event,
        'certificate_authority_removed',
        'The certificate authority for device certificates was removed',
      ),
  },
});
