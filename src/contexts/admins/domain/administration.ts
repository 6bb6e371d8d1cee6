import type { Actor } from '../../../platform/kernel/actor.ts';
import { conflict, forbidden, notFound, unauthenticated, type Failure } from '../../../platform/kernel/failure.ts';
import type { AdminRole } from '../../identity/domain/roles.ts';
import type { AdminState } from '../../tenants/domain/admin.ts';
import { activeSuperAdmins, type TenantState } from '../../tenants/domain/tenant.ts';

/** OP-266: super admins administer every role; admins administer only the roles below them. */
const ADMINISTERED: Readonly<Record<AdminRole, readonly AdminRole[]>> = {
  super_admin: ['super_admin', 'admin', 'analyst', 'viewer'],
  admin: ['analyst', 'viewer'],
  analyst: [],
  viewer: [],
};

/**
 * Refuses unless the actor may create or change admins of these roles. The decision uses the actor's current role, so
 * an admin who was just deleted or demoted is refused. The system itself is always allowed.
 */
export function refuseUnlessAdministers(
  { admins }: TenantState,
  actor: Actor,
  roles: readonly AdminRole[],
): Failure | undefined {
  if (actor.kind === 'system') return undefined;
  const self = actor.kind === 'admin' && actor.id !== null ? admins.get(actor.id) : undefined;
  if (self?.status !== 'active') return unauthenticated();
  return roles.every((role) => ADMINISTERED[self.role].includes(role)) ? undefined : forbidden();
}

/** True if accounts of this role administer other accounts, so that taking one over means taking over the tenant. */
export const governs = (role: AdminRole): boolean => ADMINISTERED[role].length > 0;

/** Ascending. */
const RIGHTS: readonly AdminRole[] = ['viewer', 'analyst', 'admin', 'super_admin'];

/** True if the first role may do something that the second one may not. */
export const exceeds = (role: AdminRole, other: AdminRole): boolean => RIGHTS.indexOf(role) > RIGHTS.indexOf(other);

/** The admin that a command names, if the actor may administer them. */
export function administeredAdmin(state: TenantState, actor: Actor, adminId: string): AdminState | Failure {
  const admin = state.admins.get(adminId);
  if (!admin) return notFound();
  return refuseUnlessAdministers(state, actor, [admin.role]) ?? admin;
}

/** OP-043: admins cannot take away their own rights, and one active super admin has to remain. */
export function refuseLosingRights(state: TenantState, actor: Actor, admin: AdminState): Failure | undefined {
  if (actor.id === admin.adminId) return conflict('own_account');
  const others = activeSuperAdmins(state).filter(({ adminId }) => adminId !== admin.adminId);
  return admin.role === 'super_admin' && others.length === 0 ? conflict('last_super_admin') : undefined;
}
