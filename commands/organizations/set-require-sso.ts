import {
  enabledConfigs,
  organization,
  organizationStream,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface SetRequireSso {
  readonly requireSso: boolean;
}

/**
 * Sets whether single sign-on is required instead of passwords. Requiring it needs an enabled configuration (OP-140).
 */
export const setRequireSso = defineCommand({
  name: 'SetRequireSso',
  aggregate: organization,
  stream: (_input: SetRequireSso, { tenantId }) => organizationStream(tenantId),
  decide(state, { requireSso }) {
    if (!state.exists) return notFound();
    if (requireSso && enabledConfigs(state).length === 0)
      return invalid('requireSso', 'needs an enabled configuration');
    if (state.requireSso === requireSso) return accept([]);
    return accept([{ type: 'OrgSsoRequirementSet', data: { requireSso } }]);
  },
  freshens: ['organizations'],
});
