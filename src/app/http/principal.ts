import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { OrgRole, AdminRole } from '../../contexts/identity/domain/roles.ts';

/** An admin of one tenant, with a live session. */
export interface AdminPrincipal {
  readonly kind: 'admin';
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
  readonly role: AdminRole;
  /** True if the request has a re-authentication token of this session. Only checked on routes that may need one. */
  readonly reauthenticated: boolean;
}

/** An admin of an organization of tenants. `tenantId` is the organization: the owner of its streams and rows. */
export interface OrgPrincipal {
  readonly kind: 'org_admin';
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
  readonly role: OrgRole;
}

/** A browser with an unrevoked certificate of its tenant's CA. */
export interface DevicePrincipal {
  readonly kind: 'device';
  readonly tenantId: TenantId;
  readonly deviceId: string;
  readonly userId: string;
  readonly certificateSerial: string;
}

export type Principal = AdminPrincipal | OrgPrincipal | DevicePrincipal;

export function actorOf(principal: Principal | undefined, ip: string, userAgent: string | undefined): Actor {
  const origin = { ip, ...(userAgent ? { userAgent: userAgent.slice(0, 256) } : {}) };
  if (!principal) return { kind: 'system', id: null, ...origin };
  // Privacy: device events carry no IP address, because it reveals where the employee is.
  if (principal.kind === 'device') return { kind: 'device', id: principal.deviceId };
  return { kind: principal.kind, id: principal.adminId, ...origin };
}
