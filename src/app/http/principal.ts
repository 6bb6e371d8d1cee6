import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../platform/kernel/failure.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ScimProfile } from '../../contexts/scim/domain/client-events.ts';
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
  /** Set: the device may only report that its wipe is completed. All else is refused with this failure. */
  readonly onlyConfirmsWipe?: Failure;
}

/** An identity provider with a live access token. */
export interface ScimPrincipal {
  readonly kind: 'scim';
  readonly tenantId: TenantId;
  readonly clientId: string;
  readonly profile: ScimProfile;
}

/** The caller's id: distinguishes the callers of one tenant. */
export function callerIdOf(principal: Principal): string {
  if (principal.kind === 'device') return principal.deviceId;
  return principal.kind === 'scim' ? principal.clientId : principal.adminId;
}

export type Principal = AdminPrincipal | OrgPrincipal | DevicePrincipal | ScimPrincipal;

type Caller = Pick<FastifyRequest, 'ip' | 'headers'>;

export function actorOf(principal: Principal | undefined, { ip, headers }: Caller): Actor {
  const userAgent = headers['user-agent'];
  const origin = { ip, ...(userAgent ? { userAgent: userAgent.slice(0, 256) } : {}) };
  if (!principal) return { kind: 'system', id: null, ...origin };
  // Privacy: device events carry no IP address, because it reveals where the employee is.
  if (principal.kind === 'device') return { kind: 'device', id: principal.deviceId };
  return { kind: principal.kind, id: callerIdOf(principal), ...origin };
}
