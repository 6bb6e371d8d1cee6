import type { Actor } from '../../../platform/kernel/actor.ts';
import { conflict, notFound, type Failure } from '../../../platform/kernel/failure.ts';
import { activeOwners, type OrgAdminState, type OrganizationState } from './organization.ts';

/** The admin that a command names. Owners administer every role (OP-343), so there is nothing more to check. */
export const namedOrgAdmin = ({ admins }: OrganizationState, adminId: string): OrgAdminState | Failure =>
  admins.get(adminId) ?? notFound();

/** OP-344: owners cannot take away their own rights, and one active owner has to remain. */
export function refuseLosingOrgRights(
  state: OrganizationState,
  actor: Actor,
  { adminId, role }: OrgAdminState,
): Failure | undefined {
  if (actor.id === adminId) return conflict('own_account');
  const others = activeOwners(state).filter((owner) => owner.adminId !== adminId);
  return role === 'org_owner' && others.length === 0 ? conflict('last_owner') : undefined;
}
