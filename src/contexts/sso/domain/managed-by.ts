import type { Actor } from '../../../platform/kernel/actor.ts';

/**
 * Who decided which provider a tenant trusts: the tenant alone, or an organization that it belongs to or belonged to.
 */
export type ManagedBy = 'tenant' | 'organization';

/**
 * A configuration that an organization's admin ever wrote stays the organization's. Whatever the tenant's own admins
 * change later, its provider may still be the organization's choice. A tenant that wants its own provider creates
 * another configuration.
 */
export const managedAfter = (before: ManagedBy | undefined, writer: Actor['kind']): ManagedBy =>
  writer === 'org_admin' ? 'organization' : (before ?? 'tenant');
