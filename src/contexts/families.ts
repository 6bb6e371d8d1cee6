import type { EventOf } from '../platform/kernel/event.ts';
import { resourceFamilies } from './resources.ts';
import { alertEvents } from './alerts/domain/events.ts';
import { auditHeadEvents } from './audit/domain/events.ts';
import { serverCertificateEvents } from './certificates/domain/server-certificate.ts';
import { signaturePackEvents } from './signatures/domain/pack.ts';
import { canaryCookieTriggers } from './countermeasures/domain/canary-cookie-triggers.ts';
import { credentialReuseEvents } from './credentials/domain/events.ts';
import { deviceEvents } from './devices/domain/events.ts';
import { authEndpointEvents, endpointEvents } from './discovery/domain/events.ts';
import { employeeEvents } from './employees/domain/events.ts';
import { offboardingEvents } from './employees/domain/offboarding.ts';
import { agentSecretEvents } from './enrollment/domain/agent-secret.ts';
import { enrollmentEvents } from './enrollment/domain/events.ts';
import { extensionWatchEvents } from './extensions/domain/watch-events.ts';
import { groupEvents } from './groups/domain/events.ts';
import { installationEvents } from './installation/domain/identity.ts';
import { loginEvents } from './identity/domain/login-events.ts';
import { totpEvents } from './identity/domain/totp-codes.ts';
import { parkedEventRequests } from './installation/domain/parked-events.ts';
import { deliveryEvents, messageLimitEvents, notificationEvents } from './notifications/domain/events.ts';
import { webhookReplayEvents } from './notifications/domain/webhook-replay.ts';
import { notificationSettingsEvents } from './notifications/domain/settings.ts';
import { onCallEvents } from './on-call/domain/events.ts';
import { pageEvents } from './on-call/domain/page-events.ts';
import { organizationEvents } from './organizations/domain/events.ts';
import { policyEvents } from './policies/domain/events.ts';
import { unblockKeyEvents } from './policies/domain/unblock-key-events.ts';
import { recoveryEvents } from './identity/domain/recovery-refusals.ts';
import { screenshotEvents } from './screenshots/domain/events.ts';
import { screenshotViewEvents } from './screenshots/domain/views.ts';
import { scimClientEvents } from './scim/domain/client-events.ts';
import { scimRefusalEvents } from './scim/domain/refusals.ts';
import { sessionEvents } from './identity/domain/session-events.ts';
import { alertSeverityEvents } from './settings/domain/alert-severity.ts';
import { mobileAccessEvents } from './settings/domain/mobile-access.ts';
import { logDestinationEvents } from './log-destinations/domain/events.ts';
import { directorySourceEvents } from './directory-sources/domain/events.ts';
import { ssoEvents } from './sso/domain/events.ts';
import { ssoSignInEvents } from './sso/domain/refusals.ts';
import { anonymousTelemetryEvents } from './telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from './telemetry/domain/events.ts';
import { domainScanEvents } from './threat-intel/domain/domain-scan-events.ts';
import { threatIntelEvents } from './threat-intel/domain/settings.ts';
import { tenantEvents } from './tenants/domain/events.ts';
import { softwareUpdateEvents } from './updates/domain/events.ts';
import { masterKeyEvents } from './installation/domain/master-key.ts';
import { mobileEvents } from './mobile/domain/events.ts';
import { extensionRolloutEvents } from './extension-rollouts/domain/events.ts';
import { verificationEvents } from './verification/domain/events.ts';

/** All event families of the application. Events of other families can be neither written nor read. */
export const families = [
  tenantEvents,
  sessionEvents,
  loginEvents,
  totpEvents,
  recoveryEvents,
  masterKeyEvents,
  installationEvents,
  organizationEvents,
  directorySourceEvents,
  logDestinationEvents,
  ssoEvents,
  ssoSignInEvents,
  scimClientEvents,
  scimRefusalEvents,
  employeeEvents,
  offboardingEvents,
  deviceEvents,
  serverCertificateEvents,
  enrollmentEvents,
  agentSecretEvents,
  telemetryEvents,
  anonymousTelemetryEvents,
  screenshotEvents,
  screenshotViewEvents,
  credentialReuseEvents,
  extensionWatchEvents,
  alertEvents,
  alertSeverityEvents,
  policyEvents,
  unblockKeyEvents,
  groupEvents,
  verificationEvents,
  onCallEvents,
  pageEvents,
  notificationSettingsEvents,
  notificationEvents,
  messageLimitEvents,
  deliveryEvents,
  webhookReplayEvents,
  mobileAccessEvents,
  mobileEvents,
  canaryCookieTriggers,
  signaturePackEvents,
  endpointEvents,
  authEndpointEvents,
  threatIntelEvents,
  domainScanEvents,
  auditHeadEvents,
  parkedEventRequests,
  softwareUpdateEvents,
  extensionRolloutEvents,
  ...resourceFamilies,
] as const;

/** Every event that the store can hold. */
export type ApplicationEvent = EventOf<(typeof families)[number]>;
