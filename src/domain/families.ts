import type { EventFamily } from '../kernel/event.ts';
import { resourceFamilies } from '../resources/index.ts';
import { alertEvents } from './alerts/events.ts';
import { auditHeadEvents } from './audit/events.ts';
import { serverCertificateEvents } from './certificates/server-certificate.ts';
import { signaturePackEvents } from './signatures/pack.ts';
import { canaryCookieTriggers } from './countermeasures/canary-cookie-triggers.ts';
import { credentialReuseEvents } from './credentials/events.ts';
import { deviceEvents } from './devices/events.ts';
import { authEndpointEvents, endpointEvents } from './discovery/events.ts';
import { employeeEvents } from './employees/events.ts';
import { agentSecretEvents } from './enrollment/agent-secret.ts';
import { enrollmentEvents } from './enrollment/events.ts';
import { extensionWatchEvents } from './extensions/watch-events.ts';
import { groupEvents } from './groups/events.ts';
import { installationEvents } from './installation/identity.ts';
import { loginEvents } from './logins/events.ts';
import { totpEvents } from './mfa/totp-codes.ts';
import { parkedEventRequests } from './operations/parked-events.ts';
import { organizationEvents } from './organizations/events.ts';
import { policyEvents } from './policies/events.ts';
import { unblockKeyEvents } from './policies/unblock-key-events.ts';
import { recoveryEvents } from './recovery/refusals.ts';
import { screenshotEvents } from './screenshots/events.ts';
import { screenshotViewEvents } from './screenshots/views.ts';
import { sessionEvents } from './sessions/events.ts';
import { alertSeverityEvents } from './settings/alert-severity.ts';
import { mobileAccessEvents } from './settings/mobile-access.ts';
import { ssoEvents } from './sso/events.ts';
import { ssoSignInEvents } from './sso/refusals.ts';
import { anonymousTelemetryEvents } from './telemetry/anonymous-events.ts';
import { telemetryEvents } from './telemetry/events.ts';
import { domainScanEvents } from './threat-intel/domain-scan-events.ts';
import { threatIntelEvents } from './threat-intel/settings.ts';
import { tenantEvents } from './tenants/events.ts';
import { masterKeyEvents } from './vault/master-key.ts';
import { verificationEvents } from './verification/events.ts';

/** Every event family of the house. What is not here can be neither written nor read. */
export const families: readonly EventFamily[] = [
  tenantEvents,
  sessionEvents,
  loginEvents,
  totpEvents,
  recoveryEvents,
  masterKeyEvents,
  installationEvents,
  organizationEvents,
  ssoEvents,
  ssoSignInEvents,
  employeeEvents,
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
  mobileAccessEvents,
  canaryCookieTriggers,
  signaturePackEvents,
  endpointEvents,
  authEndpointEvents,
  threatIntelEvents,
  domainScanEvents,
  auditHeadEvents,
  parkedEventRequests,
  ...resourceFamilies,
];
