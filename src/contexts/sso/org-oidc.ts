import {
  enabledConfigs,
  organization,
  organizationStream,
  orgAdminByAccount,
  orgSsoSecretLocation,
  type OrgAdminState,
} from '../organizations/domain/organization.ts';
import { coversEmail } from './domain/fields.ts';
import { SsoRefused, type ProvenIdentity } from '../identity/sso-sign-in.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Vault } from '../../platform/vault/vault.ts';

export interface OrgOidcDependencies {
  readonly loader: AggregateLoader;
  readonly vault: Vault;
  accountDigest(email: string): string;
}

/** The enabled provider of an organization's admins, read now. */
export async function enabledOrgConfig({ loader, vault }: OrgOidcDependencies, organizationId: TenantId) {
  const state = await loader.load(organization, organizationStream(organizationId));
  const [config] = enabledConfigs(state);
  if (!config) return undefined;
  const { configId, clientSecretRef } = config;
  const secret =
    clientSecretRef === null
      ? undefined
      : await vault.get(organizationId, orgSsoSecretLocation(configId), clientSecretRef);
  return { config, secret: secret?.toString() ?? null, externalBaseUrl: state.externalBaseUrl };
}

/** The organization's active admin with that e-mail; accounts are never created here. Throws `SsoRefused`. */
export async function admitOrgAdmin(
  { loader, accountDigest }: OrgOidcDependencies,
  organizationId: TenantId,
  { email, emailDomains }: ProvenIdentity,
): Promise<OrgAdminState> {
  if (!coversEmail(emailDomains, email)) throw new SsoRefused('account_not_found', 'foreign domain');
  const admin = orgAdminByAccount(
    await loader.load(organization, organizationStream(organizationId)),
    accountDigest(email),
  );
  if (!admin) throw new SsoRefused('account_not_found');
  if (admin.status !== 'active') throw new SsoRefused('account_disabled', null, admin.adminId);
  return admin;
}
