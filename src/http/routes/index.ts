import type { DependenciesOf, RouteGroup } from '../route.ts';
import { adminUserRoutes } from './admin-users.ts';
import { alertRoutes } from './alerts.ts';
import { alertChartRoutes } from './alert-charts.ts';
import { portalRoutes } from './portal.ts';
import { auditLogRoutes } from './audit-log.ts';
import { authRoutes } from './auth.ts';
import { agentSecretRoutes } from './agent-secret.ts';
import { autoEnrollmentRoutes } from './auto-enrollment.ts';
import { certificateRoutes } from './certificates.ts';
import { deviceRoutes } from './devices.ts';
import { employeeRoutes } from './employees.ts';
import { enrollRoutes } from './enroll.ts';
import { enrollmentRoutes } from './enrollment.ts';
import { licenseRoutes } from './license.ts';
import { loginPageRoutes } from './login-page.ts';
import { meRoutes } from './me.ts';
import { mfaRoutes } from './mfa.ts';
import { opsRoutes } from './ops.ts';
import { ownSessionRoutes } from './own-sessions.ts';
import { policyRoutes } from './policies.ts';
import { recoveryRoutes } from './recovery.ts';
import { resourceRoutes } from './resources.ts';
import { tlsRoutes } from './tls.ts';
import { groupRoutes } from './groups.ts';
import { verificationRoutes } from './verification.ts';
import { unblockKeyRoutes } from './unblock-keys.ts';
import { settingsRoutes } from './settings.ts';
import { orgAccountRoutes } from './org-account.ts';
import { orgAuditLogRoutes } from './org-audit-log.ts';
import { orgSignInRoutes } from './org-sign-in.ts';
import { organizationRoutes } from './organization.ts';
import { orgTenantSsoConfigRoutes, ssoConfigRoutes } from './sso-configs.ts';
import { samlRoutes } from './saml.ts';
import { orgSsoRoutes } from './org-sso.ts';
import { orgDomainRoutes } from './org-domains.ts';
import { ssoRoutes } from './sso.ts';
import { signaturePackRoutes } from './signature-packs.ts';
import { setupRoutes } from './setup.ts';
import { ssoExchangeRoutes } from './sso-exchange.ts';
import { attackSurfaceRoutes } from './attack-surface.ts';
import { authEndpointRoutes } from './auth-endpoints.ts';
import { dashboardRoutes } from './dashboard.ts';
import { endpointRoutes } from './endpoints.ts';
import { filterRoutes } from './filters.ts';
import { searchRoutes } from './search.ts';
import { credentialRoutes } from './credentials.ts';
import { eventRoutes } from './events.ts';
import { extensionMonitoringRoutes } from './extension-monitoring.ts';
import { screenshotRoutes } from './screenshots.ts';
import { domainScanRoutes } from './domain-scans.ts';
import { threatIntelRoutes } from './threat-intel.ts';
import { extRoutes } from './ext.ts';

const groups = [
  setupRoutes,
  authRoutes,
  ssoRoutes,
  samlRoutes,
  ssoExchangeRoutes,
  recoveryRoutes,
  meRoutes,
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
  verificationRoutes,
  settingsRoutes,
  ...resourceRoutes,
  ssoConfigRoutes,
  orgSignInRoutes,
  orgAccountRoutes,
  organizationRoutes,
  orgTenantSsoConfigRoutes,
  orgSsoRoutes,
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
  auditLogRoutes,
  loginPageRoutes,
  opsRoutes,
] as const satisfies readonly RouteGroup<never>[];

/** What all handlers together need of the application. */
export type RouteDependencies = DependenciesOf<typeof groups>;

/** Every route that the service has, in the order of the interface. */
export const routeGroups: readonly RouteGroup<RouteDependencies>[] = groups;
