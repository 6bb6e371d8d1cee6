import type { DependenciesOf, RouteGroup } from '../route.ts';
import { baseUrlRoutes } from './tenants/base-url.ts';
import { ownAccountRoutes } from './identity/own-account.ts';
import { orgAdminRoutes } from './organizations/org-admins.ts';
import { orgTenantRoutes } from './organizations/org-tenants.ts';
import { adminUserRoutes } from './admins/admin-users.ts';
import { alertRoutes } from './alerts/alerts.ts';
import { alertChartRoutes } from './alerts/alert-charts.ts';
import { portalRoutes } from './alerts/portal.ts';
import { auditLogRoutes } from './audit/audit-log.ts';
import { authRoutes } from './identity/auth.ts';
import { agentSecretRoutes } from './enrollment/agent-secret.ts';
import { autoEnrollmentRoutes } from './enrollment/auto-enrollment.ts';
import { certificateRoutes } from './certificates/certificates.ts';
import { deviceRoutes } from './devices/devices.ts';
import { employeeRoutes } from './employees/employees.ts';
import { enrollRoutes } from './enrollment/enroll.ts';
import { enrollmentRoutes } from './enrollment/enrollment.ts';
import { licenseRoutes } from './tenants/license.ts';
import { loginPageRoutes } from './identity/login-page.ts';
import { meRoutes } from './identity/me.ts';
import { mfaRoutes } from './identity/mfa.ts';
import { opsRoutes } from './installation/ops.ts';
import { ownSessionRoutes } from './identity/own-sessions.ts';
import { policyRoutes } from './policies/policies.ts';
import { recoveryRoutes } from './identity/recovery.ts';
import { resourceRoutes } from './resources.ts';
import { tlsRoutes } from './certificates/tls.ts';
import { groupRoutes } from './groups/groups.ts';
import { pushRuleTestRoutes } from './notifications/push-rule-test.ts';
import { mobileRoutes } from './mobile/mobile.ts';
import { webhookReplayRoutes } from './notifications/webhook-replays.ts';
import { deliveryRoutes } from './notifications/deliveries.ts';
import { notificationSettingsRoutes } from './notifications/notification-settings.ts';
import { onCallCalendarRoutes } from './on-call/on-call-calendars.ts';
import { onCallPageRoutes } from './on-call/on-call-pages.ts';
import { onCallScheduleRoutes } from './on-call/on-call-schedules.ts';
import { onCallShiftRoutes } from './on-call/on-call-shifts.ts';
import { verificationRoutes } from './verification/verification.ts';
import { updateUploadRoutes } from './updates/update-upload.ts';
import { extensionRolloutRoutes } from './extension-rollouts/extension-rollouts.ts';
import { updateRoutes } from './updates/updates.ts';
import { unblockKeyRoutes } from './policies/unblock-keys.ts';
import { settingsRoutes } from './settings/settings.ts';
import { orgAccountRoutes } from './organizations/org-account.ts';
import { orgAuditLogRoutes } from './organizations/org-audit-log.ts';
import { orgSignInRoutes } from './organizations/org-sign-in.ts';
import { organizationRoutes } from './organizations/organization.ts';
import { logDestinationRoutes } from './log-destinations/log-destinations.ts';
import { logRedeliveryRoutes } from './log-destinations/log-redelivery.ts';
import { directorySyncRoutes } from './directory-sources/directory-syncs.ts';
import { directorySourceRoutes } from './directory-sources/directory-sources.ts';
import { orgTenantSsoConfigRoutes, ssoConfigRoutes } from './sso/sso-configs.ts';
import { backchannelLogoutRoutes } from './sso/backchannel-logout.ts';
import { samlLogoutRoutes } from './sso/saml-logout.ts';
import { samlRoutes } from './sso/saml.ts';
import { orgSsoRoutes } from './organizations/org-sso.ts';
import { orgDomainRoutes } from './organizations/org-domains.ts';
import { ssoRoutes } from './sso/sso.ts';
import { signaturePackRoutes } from './signatures/signature-packs.ts';
import { oauthRoutes } from './scim/oauth.ts';
import { scimClientRoutes } from './scim/scim-clients.ts';
import { scimRoutes } from './scim/scim.ts';
import { setupRoutes } from './tenants/setup.ts';
import { ssoInitiateRoutes } from './sso/sso-initiate.ts';
import { orgSsoPortalRoutes } from './organizations/org-sso-portal.ts';
import { ssoExchangeRoutes } from './sso/sso-exchange.ts';
import { attackSurfaceRoutes } from './discovery/attack-surface.ts';
import { authEndpointRoutes } from './discovery/auth-endpoints.ts';
import { dashboardRoutes } from './dashboard/dashboard.ts';
import { endpointRoutes } from './discovery/endpoints.ts';
import { filterRoutes } from './search/filters.ts';
import { searchRoutes } from './search/search.ts';
import { credentialRoutes } from './credentials/credentials.ts';
import { eventRoutes } from './telemetry/events.ts';
import { extensionMonitoringRoutes } from './extensions/extension-monitoring.ts';
import { screenshotRoutes } from './screenshots/screenshots.ts';
import { domainScanRoutes } from './threat-intel/domain-scans.ts';
import { threatIntelRoutes } from './threat-intel/threat-intel.ts';
import { extRoutes } from './telemetry/ext.ts';

const groups = [
  setupRoutes,
  authRoutes,
  ssoRoutes,
  samlRoutes,
  backchannelLogoutRoutes,
  samlLogoutRoutes,
  ssoExchangeRoutes,
  ssoInitiateRoutes,
  recoveryRoutes,
  meRoutes,
  ownAccountRoutes,
  mfaRoutes,
  ownSessionRoutes,
  adminUserRoutes,
  employeeRoutes,
  credentialRoutes,
  alertRoutes,
  alertChartRoutes,
  portalRoutes,
  deviceRoutes,
  enrollmentRoutes,
  certificateRoutes,
  tlsRoutes,
  enrollRoutes,
  autoEnrollmentRoutes,
  agentSecretRoutes,
  licenseRoutes,
  policyRoutes,
  unblockKeyRoutes,
  groupRoutes,
  onCallShiftRoutes,
  onCallScheduleRoutes,
  onCallCalendarRoutes,
  onCallPageRoutes,
  pushRuleTestRoutes,
  mobileRoutes,
  notificationSettingsRoutes,
  deliveryRoutes,
  updateRoutes,
  updateUploadRoutes,
  extensionRolloutRoutes,
  webhookReplayRoutes,
  verificationRoutes,
  settingsRoutes,
  baseUrlRoutes,
  ...resourceRoutes,
  directorySourceRoutes,
  directorySyncRoutes,
  logDestinationRoutes,
  logRedeliveryRoutes,
  ssoConfigRoutes,
  orgSignInRoutes,
  orgAccountRoutes,
  orgAdminRoutes,
  orgTenantRoutes,
  organizationRoutes,
  orgTenantSsoConfigRoutes,
  orgSsoRoutes,
  orgSsoPortalRoutes,
  orgDomainRoutes,
  orgAuditLogRoutes,
  endpointRoutes,
  authEndpointRoutes,
  attackSurfaceRoutes,
  eventRoutes,
  searchRoutes,
  filterRoutes,
  dashboardRoutes,
  extensionMonitoringRoutes,
  signaturePackRoutes,
  threatIntelRoutes,
  screenshotRoutes,
  extRoutes,
  domainScanRoutes,
  oauthRoutes,
  scimRoutes,
  scimClientRoutes,
  auditLogRoutes,
  loginPageRoutes,
  opsRoutes,
] as const satisfies readonly RouteGroup<never>[];

/** The combined dependencies of all handlers. */
export type RouteDependencies = DependenciesOf<typeof groups>;

/** All routes of the service, in the order of the interface. */
export const routeGroups: readonly RouteGroup<RouteDependencies>[] = groups;
