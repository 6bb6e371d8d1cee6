import type { AnyReadModel } from '../src/kernel/read-model.ts';
import { resourceModels } from '../src/resources/index.ts';
import { adminUsers } from './admins/admin-users.ts';
import { alertAddresses } from './alerts/alert-addresses.ts';
import { alerts } from './alerts/alerts.ts';
import { certificateAuthorities } from './certificates/certificate-authorities.ts';
import { devices } from './devices/devices.ts';
import { employees } from './employees/employees.ts';
import { enrollmentTokens } from './enrollment/enrollment-tokens.ts';
import { orgAdmins } from './organizations/org-admins.ts';
import { orgSsoConfigs } from './organizations/org-sso-configs.ts';
import { organizationDirectory } from './organizations/organization-directory.ts';
import { organizations } from './organizations/organizations.ts';
import { policies } from './policies/policies.ts';
import { policyVersions } from './policies/policy-versions.ts';
import { alertSeverities } from './settings/alert-severities.ts';
import { credentialStats } from './telemetry/credential-stats.ts';
import { credentialUses } from './telemetry/credential-uses.ts';
import { observations } from './telemetry/observations.ts';
import { telemetryDaily } from './telemetry/telemetry-daily.ts';
import { tenantDirectory } from './tenants/tenant-directory.ts';
import { tenants } from './tenants/tenants.ts';

/** Every read model that the projector maintains. */
export const readModels: readonly AnyReadModel[] = [tenants, tenantDirectory, adminUsers, orgAdmins, organizations, organizationDirectory, orgSsoConfigs, employees, alerts, alertAddresses, devices, credentialUses, credentialStats, telemetryDaily, observations, enrollmentTokens, certificateAuthorities, policies, policyVersions, alertSeverities, ...resourceModels];
