import {
  enabledConfigs,
  organization,
  organizationStream,
  orgSsoSecretLocation,
  type OrgSsoConfigState,
} from '../../src/contexts/organizations/domain/organization.ts';
import { refuseSecondEnabled, refuseSecretForNewIssuer } from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import type { WithVault } from '../ports.ts';

/** Omitted fields keep their values. */
interface UpdateOrgSsoConfig {
  readonly configId: string;
  readonly name?: string | undefined;
  readonly issuerUrl?: string | undefined;
  readonly clientId?: string | undefined;
  /** Null clears it (OP-138). */
  readonly clientSecret?: string | null | undefined;
  readonly scopes?: string | undefined;
  readonly emailDomains?: readonly string[] | undefined;
  readonly isEnabled?: boolean | undefined;
}

interface Facts {
  /** Undefined keeps the stored secret. */
  readonly clientSecretRef: string | null | undefined;
}

const withChanges = (
  stored: OrgSsoConfigState,
  { name, issuerUrl, clientId, scopes, emailDomains, isEnabled }: UpdateOrgSsoConfig,
  clientSecretRef: string | null | undefined,
) => ({
  configId: stored.configId,
  name: name ?? stored.name,
  issuerUrl: issuerUrl ?? stored.issuerUrl,
  clientId: clientId ?? stored.clientId,
  clientSecretRef: clientSecretRef === undefined ? stored.clientSecretRef : clientSecretRef,
  scopes: scopes ?? stored.scopes,
  emailDomains: [...(emailDomains ?? stored.emailDomains)],
  isEnabled: isEnabled ?? stored.isEnabled,
});

export const updateOrgSsoConfig = defineCommand({
  name: 'UpdateOrgSsoConfig',
  aggregate: organization,
  stream: (_input: UpdateOrgSsoConfig, { tenantId }) => organizationStream(tenantId),
  async prepare({ configId, clientSecret }: UpdateOrgSsoConfig, { vault }: WithVault, { tenantId }) {
    const isNew = typeof clientSecret === 'string';
    const facts: Facts = {
      clientSecretRef: isNew ? await vault.put(tenantId, orgSsoSecretLocation(configId), clientSecret) : clientSecret,
    };
    return facts;
  },
  decide(state, input, _context, { clientSecretRef }: Facts) {
    const stored = state.ssoConfigs.get(input.configId);
    if (!stored) return notFound();
    const updated = withChanges(stored, input, clientSecretRef);
    const keepsSecret = stored.clientSecretRef !== null && updated.clientSecretRef === stored.clientSecretRef;
    const movedSecret = refuseSecretForNewIssuer(stored, updated, keepsSecret);
    if (movedSecret) return movedSecret;
    const others = enabledConfigs(state).filter(({ configId }) => configId !== stored.configId);
    const second = refuseSecondEnabled(updated.isEnabled, others.length);
    if (second) return second;
    if (!updated.isEnabled && others.length === 0 && state.requireSso) return conflict('sso_needed');
    return accept([{ type: 'OrgSsoConfigUpdated', data: updated }], {
      forget: replacedSecret(stored.clientSecretRef, updated.clientSecretRef),
    });
  },
  freshens: ['org_sso_configs', 'org_sso_routing', 'live-state'],
});
