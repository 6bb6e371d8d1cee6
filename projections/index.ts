import type { AnyReadModel } from '../src/kernel/read-model.ts';
import { adminUsers } from './admins/admin-users.ts';
import { alerts } from './alerts/alerts.ts';
import { orgAdmins } from './organizations/org-admins.ts';
import { tenantDirectory } from './tenants/tenant-directory.ts';
import { tenants } from './tenants/tenants.ts';

/** Every read model that the projector maintains. */
export const readModels: readonly AnyReadModel[] = [tenants, tenantDirectory, adminUsers, orgAdmins, alerts];
