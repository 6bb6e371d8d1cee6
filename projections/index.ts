import type { AnyReadModel } from '../src/kernel/read-model.ts';
import { adminUsers } from './admins/admin-users.ts';
import { alerts } from './alerts/alerts.ts';
import { certificateAuthorities } from './certificates/certificate-authorities.ts';
import { devices } from './devices/devices.ts';
import { enrollmentTokens } from './enrollment/enrollment-tokens.ts';
import { orgAdmins } from './organizations/org-admins.ts';
import { tenantDirectory } from './tenants/tenant-directory.ts';
import { tenants } from './tenants/tenants.ts';

/** Every read model that the projector maintains. */
export const readModels: readonly AnyReadModel[] = [tenants, tenantDirectory, adminUsers, orgAdmins, alerts, devices, enrollmentTokens, certificateAuthorities];
