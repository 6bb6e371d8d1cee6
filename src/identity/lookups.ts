import type { AggregateReader } from '../kernel/aggregate.ts';
import type { Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { OrgRole, Role } from '../domain/identity/roles.ts';
import { device, deviceStream, type DeviceState } from '../domain/devices/device.ts';
import { employee, employeeStream, type EmployeeState } from '../domain/employees/employee.ts';
import { organization, organizationStream } from '../domain/organizations/organization.ts';
import { session, sessionStream } from '../domain/sessions/session.ts';
import { admitsSession } from '../domain/identity/account.ts';
import { tenant, tenantStream, type TenantState } from '../domain/tenants/tenant.ts';
import { isStillVouchedFor } from './vouching.ts';
import type { LiveState } from '../projector/live-state.ts';

export interface LiveAdmin {
  readonly adminId: string;
  readonly role: Role;
}
export interface LiveOrgAdmin {
  readonly adminId: string;
  readonly role: OrgRole;
}

/** What stands at the door of every request, decided on streams and remembered as long as nothing changes it. */
export interface Lookups {
  /** The admin behind a session that still lives, with the role as it is now. */
  adminSession(tenantId: TenantId, sessionId: string): Promise<LiveAdmin | undefined>;
  orgSession(organizationId: TenantId, sessionId: string): Promise<LiveOrgAdmin | undefined>;
  device(tenantId: TenantId, deviceId: string): Promise<DeviceState | undefined>;
  /** The employee, as far as decisions go; of somebody unknown, the initial state. */
  employee(tenantId: TenantId, userId: string): Promise<EmployeeState | undefined>;
  /** License, authority, base address and name of a tenant that exists. */
  tenant(tenantId: TenantId, id: string): Promise<TenantState | undefined>;
}

const ofSession = (event: Recorded) => (event.data as { sessionId: string }).sessionId;
const ofDevice = (event: Recorded) => (event.data as { deviceId: string }).deviceId;
const ofEmployee = (event: Recorded) => (event.data as { userId: string }).userId;
const ofTenant = () => 'tenant' as const;

export function liveLookups(live: LiveState, aggregates: AggregateReader): Lookups {
  return {
    adminSession: live.remember(
      async (tenantId, sessionId) => {
        const [{ status, subjectId, epoch, vouchedBy }, { admins }] = await Promise.all([
          aggregates.load(session, sessionStream(tenantId, sessionId)),
          aggregates.load(tenant, tenantStream(tenantId)),
        ]);
        const admin = admins.get(subjectId);
        if (!(await isStillVouchedFor(aggregates, 'tenant', tenantId, vouchedBy))) return undefined;
        if (status !== 'live' || !admin || !admitsSession(admin, sessionId, epoch)) return undefined;
        return { adminId: admin.adminId, role: admin.role };
      },
      {
        SessionEnded: ofSession,
        AdminRoleChanged: ofTenant,
        AdminSuspended: ofTenant,
        AdminUserDeleted: ofTenant,
        AdminSessionsRevoked: ofTenant,
        AdminOtherSessionsRevoked: ofTenant,
        SsoConfigUpdated: ofTenant,
        SsoConfigDeleted: ofTenant,
      },
    ),
    orgSession: live.remember(
      async (organizationId, sessionId) => {
        const [{ status, subjectId, epoch, vouchedBy }, { admins }] = await Promise.all([
          aggregates.load(session, sessionStream(organizationId, sessionId)),
          aggregates.load(organization, organizationStream(organizationId)),
        ]);
        const admin = admins.get(subjectId);
        if (!(await isStillVouchedFor(aggregates, 'organization', organizationId, vouchedBy))) return undefined;
        if (status !== 'live' || !admin || !admitsSession(admin, sessionId, epoch)) return undefined;
        return { adminId: admin.adminId, role: admin.role };
      },
      {
        SessionEnded: ofSession,
        OrgAdminSuspended: ofTenant,
        OrgAdminReinstated: ofTenant,
        OrgAdminSessionsRevoked: ofTenant,
        OrgAdminOtherSessionsRevoked: ofTenant,
        OrgSsoConfigUpdated: ofTenant,
        OrgSsoConfigDeleted: ofTenant,
      },
    ),
    device: live.remember(
      async (tenantId, deviceId) => {
        const state = await aggregates.load(device, deviceStream(tenantId, deviceId));
        return state.status === 'none' ? undefined : state;
      },
      {
        DeviceEnrolled: ofDevice,
        DeviceCertificateIssued: ofDevice,
        DeviceAccessKeyIssued: ofDevice,
        DeviceCertificatePinned: ofDevice,
        DeviceEnrollmentConfirmed: ofDevice,
        DeviceRevoked: ofDevice,
        DeviceWipeRequested: ofDevice,
        DeviceWipeDelivered: ofDevice,
        DeviceWiped: ofDevice,
        DeviceDeleted: ofDevice,
      },
    ),
    employee: live.remember((tenantId, userId) => aggregates.load(employee, employeeStream(tenantId, userId)), {
      EmployeeCreated: ofEmployee,
      EmployeeUpdated: ofEmployee,
      EmployeeDeleted: ofEmployee,
      EmployeeErasureRequested: ofEmployee,
      EmployeeErased: ofEmployee,
    }),
    tenant: live.remember(
      async (tenantId) => {
        const state = await aggregates.load(tenant, tenantStream(tenantId));
        return state.exists ? state : undefined;
      },
      {
        TenantSetUp: ofTenant,
        LicenseInstalled: ofTenant,
        CertificateAuthorityInstalled: ofTenant,
        CertificateAuthorityRemoved: ofTenant,
      },
    ),
  };
}
