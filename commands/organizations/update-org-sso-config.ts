import { isDeepStrictEqual } from 'node:util';
import {
  enabledConfigs,
  organization,
  organizationStream,
  orgSsoSecretLocation,
  type OrgSsoConfigState,
} from '../../src/contexts/organizations/domain/organization.ts';
import type { IssuerTrust } from '../../src/contexts/sso/domain/fields.ts';
import {
  refuseSecondEnabled,
  refuseSecretForNewIssuer,
  refuseUnboundTrust,
} from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import { conflict, notFound, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import { changesReach, refuseUnreachableIssuer } from '../sso/refuse-unreachable-issuer.ts';
import type { WithAggregates, WithDestinations, WithVault } from '../ports.ts';

type TrustChanges = { readonly [Name in keyof IssuerTrust]?: IssuerTrust[Name] | undefined };

/** Omitted fields keep their values. */
interface UpdateOrgSsoConfig extends TrustChanges {
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
  { name, issuerUrl, clientId, scopes, emailDomains, isEnabled, ...trust }: UpdateOrgSsoConfig,
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
  ...withTrust(stored, trust),
});

function refuseChange(
  stored: OrgSsoConfigState,
  input: UpdateOrgSsoConfig,
  clientSecretRef: string | null | undefined,
): Failure | undefined {
  const updated = withChanges(stored, input, clientSecretRef);
  const keepsSecret = stored.clientSecretRef !== null && updated.clientSecretRef === stored.clientSecretRef;
  return refuseTogether(refuseSecretForNewIssuer(stored, updated, keepsSecret), refuseUnboundTrust(updated));
}

const withTrust = (stored: IssuerTrust, changes: TrustChanges): IssuerTrust => ({
  clientAuthentication: changes.clientAuthentication ?? stored.clientAuthentication,
  emailsVerified: changes.emailsVerified ?? stored.emailsVerified,
  allowPrivateNetwork: changes.allowPrivateNetwork ?? stored.allowPrivateNetwork,
  caCertificate: changes.caCertificate === undefined ? stored.caCertificate : changes.caCertificate,
});

export const updateOrgSsoConfig = defineCommand({
  name: 'UpdateOrgSsoConfig',
  aggregate: organization,
  stream: (_input: UpdateOrgSsoConfig, { tenantId }) => organizationStream(tenantId),
  async prepare(
    input: UpdateOrgSsoConfig,
    { vault, aggregates, destinations }: WithVault & WithAggregates & WithDestinations,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { configId, clientSecret } = input;
    const stored = (await aggregates.load(organization, organizationStream(tenantId))).ssoConfigs.get(configId);
    if (!stored) return notFound();
    const isNew = typeof clientSecret === 'string';
    const refused = refuseTogether(
      // A new secret has no reference yet.
      refuseChange(stored, input, isNew ? 'new' : clientSecret),
      changesReach(input)
        ? await refuseUnreachableIssuer(destinations, withChanges(stored, input, undefined))
        : undefined,
    );
    if (refused) return refused;
    const facts: Facts = {
      clientSecretRef: isNew ? await vault.put(tenantId, orgSsoSecretLocation(configId), clientSecret) : clientSecret,
    };
    return facts;
  },
  decide(state, input, _context, { clientSecretRef }: Facts) {
    const stored = state.ssoConfigs.get(input.configId);
    if (!stored) return notFound();
    const updated = withChanges(stored, input, clientSecretRef);
    const others = enabledConfigs(state).filter(({ configId }) => configId !== stored.configId);
    const broken =
      refuseChange(stored, input, clientSecretRef) ?? refuseSecondEnabled(updated.isEnabled, others.length);
    if (broken) return broken;
    if (!updated.isEnabled && others.length === 0 && state.requireSso) return conflict('sso_needed');
    if (isDeepStrictEqual(updated, withChanges(stored, { configId: stored.configId }, undefined))) return accept([]);
    return accept([{ type: 'OrgSsoConfigUpdated', data: updated }], {
      forget: replacedSecret(stored.clientSecretRef, updated.clientSecretRef),
    });
  },
  freshens: ['org_sso_configs', 'org_sso_routing', 'live-state'],
});
