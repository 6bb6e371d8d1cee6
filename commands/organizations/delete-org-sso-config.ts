import {
  enabledConfigs,
  organization,
  organizationStream,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteOrgSsoConfig {
  readonly configId: string;
}

/**
 * The last enabled configuration cannot be deleted while single sign-on is required: nobody could sign in any more
 * (OP-139).
 */
export const deleteOrgSsoConfig = defineCommand({
  name: 'DeleteOrgSsoConfig',
  aggregate: organization,
  stream: (_input: DeleteOrgSsoConfig, { tenantId }) => organizationStream(tenantId),
  decide(state, { configId }) {
    const config = state.ssoConfigs.get(configId);
    if (!config) return notFound();
    const isLast = config.isEnabled && enabledConfigs(state).length === 1;
    if (isLast && state.requireSso) return conflict('sso_needed');
    return accept([{ type: 'OrgSsoConfigDeleted', data: { configId } }], { forget: [config.clientSecretRef] });
  },
  freshens: ['org_sso_configs', 'org_sso_routing', 'live-state'],
});
