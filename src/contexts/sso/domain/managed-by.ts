import type { Actor } from '../../../platform/kernel/actor.ts';

/** Who decided whom a tenant's provider lets in: the tenant alone, or an organization that it belongs to or belonged to. */
export type ManagedBy = 'tenant' | 'organization';

/**
 * A configuration that an admin of an organization ever wrote stays the organization's: whatever the tenant's own admin changes or
 * switches later, who the provider is may still be the organization's choice. A tenant that wants a provider of its own makes another.
 */
export const managedAfter = (before: ManagedBy | undefined, writer: Actor['kind']): ManagedBy =>
  writer === 'org_admin' ? 'organization' : (before ?? 'tenant');
