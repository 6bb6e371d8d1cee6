import {
  enabledConfigs,
  organization,
  organizationStream,
  orgSsoSecretLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { MAX_CONFIGS } from '../../src/contexts/sso/domain/fields.ts';
import { refuseSecondEnabled } from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import type { WithVault } from '../ports.ts';

interface CreateOrgSsoConfig {
  readonly configId: string;
  readonly name: string;
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null: the provider accepts a public client. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  readonly emailDomains: readonly string[];
  /** Undefined: enabled unless another configuration is. */
  readonly isEnabled?: boolean | undefined;
}

/** Creates an OpenID Connect provider for an organization's admins. At most one is enabled at a time (OP-135). */
export const createOrgSsoConfig = defineCommand({
  name: 'CreateOrgSsoConfig',
  aggregate: organization,
  stream: (_input: CreateOrgSsoConfig, { tenantId }) => organizationStream(tenantId),
  prepare: async ({ configId, clientSecret }: CreateOrgSsoConfig, { vault }: WithVault, { tenantId }) => ({
    clientSecretRef:
      clientSecret === null ? null : await vault.put(tenantId, orgSsoSecretLocation(configId), clientSecret),
  }),
  decide(state, input, _context, { clientSecretRef }: { clientSecretRef: string | null }) {
    if (!state.exists) return notFound();
    if (state.ssoConfigs.has(input.configId)) return conflict();
    if (state.ssoConfigs.size >= MAX_CONFIGS) return conflict('limit_reached', 'too many configurations');
    const others = enabledConfigs(state).length;
    const { configId, name, issuerUrl, clientId, scopes, emailDomains, isEnabled = others === 0 } = input;
    const config = {
      configId,
      name,
      issuerUrl,
      clientId,
      clientSecretRef,
      scopes,
      emailDomains: [...emailDomains],
      isEnabled,
    };
    return refuseSecondEnabled(isEnabled, others) ?? accept([{ type: 'OrgSsoConfigCreated', data: config }]);
  },
  freshens: ['org_sso_configs', 'org_sso_routing'],
});
