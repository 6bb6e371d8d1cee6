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
  /** Whether the request carries a re-authentication token of this session. Looked up only on routes whose access profile speaks of one. */
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

/** A browser with a certificate that its tenant's CA signed and nobody revoked. */
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
  // Where a browser is, is the person's own: device events carry no address.
  if (principal.kind === 'device') return { kind: 'device', id: principal.deviceId };
  return { kind: principal.kind, id: principal.adminId, ...origin };
}
