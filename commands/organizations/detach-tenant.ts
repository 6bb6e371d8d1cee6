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

/**
 * Detaches a tenant: the organization loses access to it, and another one may attach it. The tenant's own data and
 * settings stay.
 */
export const detachTenant = defineCommand({
  name: 'DetachTenant',
  aggregate: organization,
  stream: (_input: DetachTenant, { tenantId }) => organizationStream(tenantId),
  decide(state, { detachedTenantId }) {
    if (!state.tenants.has(detachedTenantId)) return notFound('tenant_not_attached');
    return accept([{ type: 'TenantDetached', data: { tenantId: detachedTenantId } }], {
      release: [tenantOwnerClaim(detachedTenantId)],
    });
  },
});
