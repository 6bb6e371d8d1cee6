import {
  organization,
  organizationStream,
  tenantOwnerClaim,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';

interface DetachTenant {
  readonly detachedTenantId: TenantId;
}

/** Lets a tenant go: from then on it is as foreign to the organization as any, and free for another. What was set up in it stays. */
export const detachTenant = defineCommand({
  name: 'DetachTenant',
  aggregate: organization,
  stream: (_input: DetachTenant, { tenantId }) => organizationStream(tenantId),
  decide(state, { detachedTenantId }) {
    if (!state.tenants.has(detachedTenantId)) return notFound('the tenant does not belong to the organization');
    return accept([{ type: 'TenantDetached', data: { tenantId: detachedTenantId } }], {
      release: [tenantOwnerClaim(detachedTenantId)],
    });
  },
});
