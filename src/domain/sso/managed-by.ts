import type { Actor } from '../../kernel/actor.ts';

/** Who decides whom a tenant's provider lets in: the tenant itself, or the organization that set the configuration up. */
export type ManagedBy = 'tenant' | 'organization';

interface Standing {
  readonly managedBy: ManagedBy;
  readonly isEnabled: boolean;
}

/**
 * A configuration that an admin of the organization wrote is the organization's, also where the tenant's own admin changes it later:
 * the provider stays who it is. The tenant takes it over by switching it on after it was off, for example after leaving the organization.
 */
export function managedAfter(before: Standing | undefined, writer: Actor['kind'], isEnabled: boolean): ManagedBy {
  if (writer === 'org_admin') return 'organization';
  if (!before) return 'tenant';
  const takesOver = writer === 'admin' && !before.isEnabled && isEnabled;
  return takesOver ? 'tenant' : before.managedBy;
}
