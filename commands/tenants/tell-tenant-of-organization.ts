import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface TellTenantOfOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly isMember: boolean;
}

/**
 * Puts into the tenant's own log that an organization has attached or detached it: who may set up its sign-in changed, and
 * its administrators do not read the organization's log. Telling it twice has no further effect.
 */
export const tellTenantOfOrganization = defineCommand({
  name: 'TellTenantOfOrganization',
  aggregate: tenant,
  stream: (_input: TellTenantOfOrganization, { tenantId }) => tenantStream(tenantId),
  decide(state, { organizationId, name, isMember }) {
    if (!state.exists) return notFound();
    const told = state.organizationId;
    if (isMember)
      return accept(
        told === organizationId ? [] : [{ type: 'TenantJoinedOrganization', data: { organizationId, name } }],
      );
    // A tenant that was attached before tenants were told of it is told of the end.
    const isNews = told === undefined || told === organizationId;
    return accept(isNews ? [{ type: 'TenantLeftOrganization', data: { organizationId, name } }] : []);
  },
});
