import type { NamedReadModel } from '../src/platform/kernel/read-model.ts';
import { resourceModels } from '../src/contexts/resources.ts';
import { adminAccounts } from './admins/admin-accounts.ts';
import { adminLocks } from './admins/admin-locks.ts';
import { adminUsers } from './admins/admin-users.ts';
import { alertAddresses } from './alerts/alert-addresses.ts';
import { alertMinutes } from './alerts/alert-minutes.ts';
import { alerts } from './alerts/alerts.ts';
import { certificateAuthorities } from './certificates/certificate-authorities.ts';
import { deviceCertificates } from './certificates/device-certificates.ts';
import { serverCertificates } from './certificates/server-certificates.ts';
import { agentKeys } from './devices/agent-keys.ts';
import { alertTypesRaised } from './dashboard/alert-types.ts';
import { devicePolicyDaily } from './dashboard/device-policy-daily.ts';
import { newSiteVisitors } from './dashboard/new-site-visitors.ts';
import { policyHistory } from './dashboard/policy-history.ts';
import { userQuarters } from './dashboard/user-quarters.ts';
import { deviceSequences } from './devices/device-sequences.ts';
import { devices } from './devices/devices.ts';
import { authEndpoints } from './discovery/auth-endpoints.ts';
import { endpointClassifications } from './discovery/endpoint-classifications.ts';
import { endpointPages } from './discovery/endpoint-pages.ts';
import { endpointTechnologies } from './discovery/endpoint-technologies.ts';
import { endpointUsers } from './discovery/endpoint-users.ts';
import { endpoints } from './discovery/endpoints.ts';
import { mfaOverrides } from './discovery/mfa-overrides.ts';
import { relyingParties } from './discovery/relying-parties.ts';
import { sites } from './discovery/sites.ts';
import { employees } from './employees/employees.ts';
import { offboardings } from './employees/offboardings.ts';
import { provisionedPeople } from './employees/provisioned-people.ts';
import { agentSecretsModel } from './enrollment/agent-secrets.ts';
import { enrollmentTokens } from './enrollment/enrollment-tokens.ts';
import { extensionChanges } from './extensions/extension-changes.ts';
import { extensionInventories } from './extensions/extension-inventories.ts';
import { installedExtensions } from './extensions/installed-extensions.ts';
import { extensionRolloutDevices } from './extension-rollouts/extension-rollout-devices.ts';
import { extensionRollouts } from './extension-rollouts/extension-rollouts.ts';
import { groupMembers } from './groups/group-members.ts';
import { groups } from './groups/groups.ts';
import { verificationAlerts } from './verification/verification-alerts.ts';
import { verificationAttempts } from './verification/verification-attempts.ts';
import { alertNotificationSettings } from './notifications/alert-notification-settings.ts';
import { deliveries } from './notifications/deliveries.ts';
import { deliveryAttempts } from './notifications/delivery-attempts.ts';
import { webhookReplays } from './notifications/webhook-replays.ts';
import { messageWindows } from './notifications/message-windows.ts';
import { adminAvailability } from './admins/admin-availability.ts';
import { onCallOverrides } from './on-call/on-call-overrides.ts';
import { mobileDevices } from './mobile/mobile-devices.ts';
import { mobilePreferencesModel } from './mobile/mobile-preferences.ts';
import { onCallPages } from './on-call/on-call-pages.ts';
import { onCallSchedules } from './on-call/on-call-schedules.ts';
import { onCallVersions } from './on-call/on-call-versions.ts';
import { orgAdmins } from './organizations/org-admins.ts';
import { orgDomains } from './organizations/org-domains.ts';
import { orgSsoConfigs } from './organizations/org-sso-configs.ts';
import { orgSsoRouting } from './organizations/org-sso-routing.ts';
import { organizationDirectory } from './organizations/organization-directory.ts';
import { organizations } from './organizations/organizations.ts';
import { policies } from './policies/policies.ts';
import { policyVersions } from './policies/policy-versions.ts';
import { unblockKeys } from './policies/unblock-keys.ts';
import { alertSeverities } from './settings/alert-severities.ts';
import { signaturePacks } from './signatures/signature-packs.ts';
import { claimedNumbers } from './tenants/claimed-numbers.ts';
import { screenshots } from './screenshots/screenshots.ts';
import { alertTexts } from './search/alert-texts.ts';
import { adminSessions } from './identity/admin-sessions.ts';
import { logDestinations } from './log-destinations/log-destinations.ts';
import { directorySources } from './directory-sources/directory-sources.ts';
import { directorySyncs } from './directory-sources/directory-syncs.ts';
import { scimClientsModel } from './scim/scim-clients.ts';
import { ssoConfigsModel } from './sso/sso-configs.ts';
import { credentialStats } from './telemetry/credential-stats.ts';
import { credentialUses } from './telemetry/credential-uses.ts';
import { observations } from './telemetry/observations.ts';
import { reporters } from './telemetry/reporters.ts';
import { passwordUses } from './telemetry/password-uses.ts';
import { signInDaily } from './telemetry/sign-in-daily.ts';
import { telemetryQuarters } from './telemetry/telemetry-quarters.ts';
import { domainScans } from './threat-intel/domain-scans.ts';
import { threatIntelSettings } from './threat-intel/threat-intel-settings.ts';
import { tenantDirectory } from './tenants/tenant-directory.ts';
import { tenants } from './tenants/tenants.ts';
import { softwareUpdateHistory } from './updates/software-update-history.ts';
import { softwareUpdates } from './updates/software-updates.ts';

/** All read models that the projector maintains. */
export const readModels: readonly NamedReadModel[] = [
  tenants,
  tenantDirectory,
  adminUsers,
  adminLocks,
  adminAccounts,
  adminSessions,
  orgAdmins,
  organizations,
  organizationDirectory,
  orgDomains,
  orgSsoConfigs,
  orgSsoRouting,
  directorySources,
  logDestinations,
  directorySyncs,
  ssoConfigsModel,
  scimClientsModel,
  employees,
  provisionedPeople,
  offboardings,
  alerts,
  alertAddresses,
  alertMinutes,
  devices,
  deviceSequences,
  credentialUses,
  credentialStats,
  telemetryQuarters,
  passwordUses,
  signInDaily,
  observations,
  screenshots,
  enrollmentTokens,
  agentSecretsModel,
  certificateAuthorities,
  serverCertificates,
  deviceCertificates,
  agentKeys,
  extensionInventories,
  installedExtensions,
  extensionChanges,
  policies,
  policyVersions,
  unblockKeys,
  groups,
  groupMembers,
  onCallSchedules,
  onCallVersions,
  onCallOverrides,
  onCallPages,
  adminAvailability,
  mobileDevices,
  mobilePreferencesModel,
  alertNotificationSettings,
  deliveries,
  deliveryAttempts,
  messageWindows,
  webhookReplays,
  verificationAlerts,
  verificationAttempts,
  alertSeverities,
  endpoints,
  endpointPages,
  endpointUsers,
  endpointTechnologies,
  authEndpoints,
  relyingParties,
  sites,
  endpointClassifications,
  mfaOverrides,
  alertTypesRaised,
  userQuarters,
  newSiteVisitors,
  devicePolicyDaily,
  policyHistory,
  reporters,
  alertTexts,
  threatIntelSettings,
  domainScans,
  signaturePacks,
  claimedNumbers,
  softwareUpdates,
  softwareUpdateHistory,
  extensionRollouts,
  extensionRolloutDevices,
  ...resourceModels,
];
