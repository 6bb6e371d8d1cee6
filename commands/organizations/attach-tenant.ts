import {
  organization,
  organizationStream,
  tenantOwnerClaim,
} from '../../src/contexts/organizations/domain/organization.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { WithAggregates } from '../ports.ts';

interface AttachTenant {
  readonly attachedTenantId: TenantId;
}

/**
 * Attaches a tenant to an organization. A tenant belongs to at most one; attaching it to the same one again changes
 * nothing.
 */
export const attachTenant = defineCommand({
  name: 'AttachTenant',
  aggregate: organization,
  stream: (_input: AttachTenant, { tenantId }) => organizationStream(tenantId),
  prepare: async ({ attachedTenantId }: AttachTenant, { aggregates }: WithAggregates) => ({
    tenantExists: (await aggregates.load(tenant, tenantStream(attachedTenantId))).exists,
  }),
  decide(state, { attachedTenantId }, _context, { tenantExists }: { tenantExists: boolean }) {
    if (!state.exists || !tenantExists) return notFound();
    if (state.tenants.has(attachedTenantId)) return accept([]);
    return accept([{ type: 'TenantAttached', data: { tenantId: attachedTenantId } }], {
      claim: [tenantOwnerClaim(attachedTenantId)],
    });
  },
  whenClaimed: () => conflict('tenant_taken'),
});
