import type { TenantId } from '../../platform/kernel/ids.ts';
import { enabledSsoConfig } from './enabled-config.ts';
import { enabledOrgConfig, type OrgOidcDependencies } from './org-oidc.ts';
import type { SsoProtocol } from './domain/events.ts';
import { claimedOwner } from './pending-authorization.ts';
import { claimedTenant } from './saml/pending-requests.ts';

export interface ClaimedOwner {
  readonly owner: TenantId;
  readonly kind: 'tenant' | 'organization';
  /** One that is enabled. */
  readonly protocol: SsoProtocol;
}

/**
 * The owner named in the state or relay state of any kind of sign-in, whichever address it came to, if that owner has
 * single sign-on. For the audit log alone: a caller can put any id into a state.
 */
export async function ownerWithSso(services: OrgOidcDependencies, state: string): Promise<ClaimedOwner | undefined> {
  const owner = claimedOwner(state) ?? claimedTenant(state);
  if (!owner) return undefined;
  const [oidc, saml] = await Promise.all([
    enabledSsoConfig(services, owner, 'oidc'),
    enabledSsoConfig(services, owner, 'saml'),
  ]);
  if (oidc ?? saml) return { owner, kind: 'tenant', protocol: oidc ? 'oidc' : 'saml' };
  return (await enabledOrgConfig(services, owner)) ? { owner, kind: 'organization', protocol: 'oidc' } : undefined;
}
