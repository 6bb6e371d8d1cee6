import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ChangeOrgBaseUrl {
  /** Without a slash at the end. */
  readonly externalBaseUrl: string;
}

/** The URL at which admins of the organization reach the service. Addresses that depend on it follow (OP-340). */
export const changeOrgBaseUrl = defineCommand({
  name: 'ChangeOrgBaseUrl',
  aggregate: organization,
  stream: (_input: ChangeOrgBaseUrl, { tenantId }) => organizationStream(tenantId),
  decide(state, { externalBaseUrl }) {
    if (!state.exists) return notFound();
    const isSame = state.externalBaseUrl === externalBaseUrl;
    return accept(isSame ? [] : [{ type: 'OrganizationBaseUrlChanged', data: { externalBaseUrl } }]);
  },
  shown: ({ exists, externalBaseUrl }) => (exists ? { externalBaseUrl } : undefined),
  freshens: ['organizations', 'organization_directory'],
});
