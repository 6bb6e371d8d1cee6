import type { TenantId } from '../../platform/kernel/ids.ts';
import type { OrgRole, AdminRole } from './domain/roles.ts';
import { device, deviceStream, type DeviceState } from '../devices/domain/device.ts';
import { employee, employeeStream, type EmployeeState } from '../employees/domain/employee.ts';
import { organization, organizationStream } from '../organizations/domain/organization.ts';
import { session, sessionStream } from './domain/session.ts';
import { admitsSession } from './domain/account.ts';
import { tenant, tenantStream, type TenantState } from '../tenants/domain/tenant.ts';
import { scimClients, scimClientsStream, type ScimClient } from '../scim/domain/clients.ts';
import { isStillVouchedFor } from './vouching.ts';
import type { InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';

export interface LiveAdmin {
  readonly adminId: string;
  readonly role: AdminRole;
}
export interface LiveOrgAdmin {
  readonly adminId: string;
  readonly role: OrgRole;
}

/**
 * The state that every request is checked against: folded from streams, and cached until an event of these streams
 * arrives.
 */
export interface Lookups {
  /** The admin of a live session, with their current role. */
  adminSession(tenantId: TenantId, sessionId: string): Promise<LiveAdmin | undefined>;
  orgSession(organizationId: TenantId, sessionId: string): Promise<LiveOrgAdmin | undefined>;
  device(tenantId: TenantId, deviceId: string): Promise<DeviceState | undefined>;
  /** The employee's decision state; the initial state if the employee is unknown. */
  employee(tenantId: TenantId, userId: string): Promise<EmployeeState | undefined>;
  /** License, authority, base address and name of a tenant; undefined if it does not exist. */
  tenant(tenantId: TenantId, id: string): Promise<TenantState | undefined>;
  /** An identity provider that may provision people; undefined if it was deleted. */
  scimClient(tenantId: TenantId, clientId: string): Promise<ScimClient | undefined>;
}

export function liveLookups(cache: InvalidatingCache): Lookups {
  return {
    adminSession: cache.cached(async ({ aggregates }, tenantId, sessionId) => {
      const [{ status, subjectId, epoch, vouchedBy }, { admins }] = await Promise.all([
        aggregates.load(session, sessionStream(tenantId, sessionId)),
        aggregates.load(tenant, tenantStream(tenantId)),
      ]);
      const admin = admins.get(subjectId);
      if (!(await isStillVouchedFor(aggregates, 'tenant', tenantId, vouchedBy))) return undefined;
      if (status !== 'live' || !admin || !admitsSession(admin, sessionId, epoch)) return undefined;
      return { adminId: admin.adminId, role: admin.role };
    }),
    orgSession: cache.cached(async ({ aggregates }, organizationId, sessionId) => {
      const [{ status, subjectId, epoch, vouchedBy }, { admins }] = await Promise.all([
        aggregates.load(session, sessionStream(organizationId, sessionId)),
        aggregates.load(organization, organizationStream(organizationId)),
      ]);
      const admin = admins.get(subjectId);
      if (!(await isStillVouchedFor(aggregates, 'organization', organizationId, vouchedBy))) return undefined;
      if (status !== 'live' || !admin || !admitsSession(admin, sessionId, epoch)) return undefined;
      return { adminId: admin.adminId, role: admin.role };
    }),
    device: cache.cached(async ({ aggregates }, tenantId, deviceId) => {
      const state = await aggregates.load(device, deviceStream(tenantId, deviceId));
      return state.status === 'none' ? undefined : state;
    }),
    employee: cache.cached(({ aggregates }, tenantId, userId) =>
      aggregates.load(employee, employeeStream(tenantId, userId)),
    ),
    tenant: cache.cached(async ({ aggregates }, tenantId) => {
      const state = await aggregates.load(tenant, tenantStream(tenantId));
      return state.exists ? state : undefined;
    }),
    scimClient: cache.cached(async ({ aggregates }, tenantId, clientId) => {
      const { clients } = await aggregates.load(scimClients, scimClientsStream(tenantId));
      return clients.get(clientId);
    }),
  };
}
