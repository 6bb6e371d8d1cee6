import type { Actor } from '../../../platform/kernel/actor.ts';
import {
  conflict,
  forbidden,
  notFound,
  reauthenticationRequired,
  unauthenticated,
  type Failure,
} from '../../../platform/kernel/failure.ts';
import type { AdminRole } from '../../identity/domain/roles.ts';
import type { AdminState } from '../../tenants/domain/admin.ts';
import { activeSuperAdmins, type TenantState } from '../../tenants/domain/tenant.ts';

/** Choice OP-266: super admins administer everybody, admins those below them. */
const ADMINISTERED: Readonly<Record<AdminRole, readonly AdminRole[]>> = {
  super_admin: ['super_admin', 'admin', 'analyst', 'viewer'],
  admin: ['analyst', 'viewer'],
  analyst: [],
  viewer: [],
};

/**
 * Whether the actor may make or change admins of these roles, by the role that the actor has at the moment of the decision:
 * whoever was deleted or demoted a moment ago has no say any more. The house itself may.
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

/** An account of this role decides about other accounts: whoever gets hold of it gets hold of the tenant. */
export const governs = (role: AdminRole): boolean => ADMINISTERED[role].length > 0;

/**
 * What changes who controls an account needs a fresh proof of who is asking, so that a stolen access token cannot be made into a lasting
 * takeover. The service itself has nothing to prove.
 */
export const refuseUnlessReauthenticated = (actor: Actor, reauthenticated: boolean | undefined): Failure | undefined =>
  actor.kind === 'system' || reauthenticated === true ? undefined : reauthenticationRequired();

/** The admin whom a command names, if the actor may administer them. */
export function administeredAdmin(state: TenantState, actor: Actor, adminId: string): AdminState | Failure {
  const admin = state.admins.get(adminId);
  if (!admin) return notFound();
  return refuseUnlessAdministers(state, actor, [admin.role]) ?? admin;
}

/** Choice OP-043: nobody takes away their own rights, and somebody has to be left who has all of them. */
export function refuseLosingRights(state: TenantState, actor: Actor, admin: AdminState): Failure | undefined {
  if (actor.id === admin.adminId) return conflict('not possible for your own account');
  const others = activeSuperAdmins(state).filter(({ adminId }) => adminId !== admin.adminId);
  return admin.role === 'super_admin' && others.length === 0
    ? conflict('the last active super admin stays')
    : undefined;
}
