import {
  enabledConfigs,
  organization,
  organizationStream,
  orgSsoSecretLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { MAX_CONFIGS, type IssuerTrust } from '../../src/contexts/sso/domain/fields.ts';
import { refuseSecondEnabled, refuseUnboundTrust } from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import { refuseUnreachableIssuer } from '../sso/refuse-unreachable-issuer.ts';
import type { WithDestinations, WithVault } from '../ports.ts';

interface CreateOrgSsoConfig extends IssuerTrust {
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
  async prepare(
    input: CreateOrgSsoConfig,
    { vault, destinations }: WithVault & WithDestinations,
    { tenantId },
  ): Promise<{ clientSecretRef: string | null } | Failure> {
    const { configId, clientSecret } = input;
    const refused = refuseTogether(refuseUnboundTrust(input), await refuseUnreachableIssuer(destinations, input));
    if (refused) return refused;
    return {
      clientSecretRef:
        clientSecret === null ? null : await vault.put(tenantId, orgSsoSecretLocation(configId), clientSecret),
    };
  },
  decide(state, input, _context, { clientSecretRef }: { clientSecretRef: string | null }) {
    if (!state.exists) return notFound();
    if (state.ssoConfigs.has(input.configId)) return conflict();
    if (state.ssoConfigs.size >= MAX_CONFIGS) return conflict('limit_reached', 'too many configurations');
    const others = enabledConfigs(state).length;
    const { clientSecret: _secret, isEnabled = others === 0, ...settings } = input;
    const config = { ...settings, clientSecretRef, emailDomains: [...settings.emailDomains], isEnabled };
    return (
      refuseUnboundTrust(config) ??
      refuseSecondEnabled(isEnabled, others) ??
      accept([{ type: 'OrgSsoConfigCreated', data: config }])
    );
  },
  freshens: ['org_sso_configs', 'org_sso_routing'],
});
