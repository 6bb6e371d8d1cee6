import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { Claim } from '../../kernel/command.ts';
import { INSTALLATION, type TenantId } from '../../kernel/ids.ts';
import type { OrgRole } from '../identity/roles.ts';
import { organizationEvents } from './events.ts';

export interface OrgAdminState {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly role: OrgRole;
  readonly status: 'active' | 'suspended';
  readonly passwordRef: string;
  readonly sessionEpoch: number;
}

/** A configuration as decisions see it; the secret is a reference into the vault. */
export interface OrgSsoConfigState {
  readonly configId: string;
  readonly name: string;
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecretRef: string | null;
  readonly scopes: string;
  readonly emailDomains: readonly string[];
  readonly isEnabled: boolean;
}

export interface OrganizationState {
  readonly exists: boolean;
  readonly slug: string;
  readonly externalBaseUrl: string;
  readonly tenants: ReadonlySet<string>;
  readonly admins: ReadonlyMap<string, OrgAdminState>;
  readonly ssoConfigs: ReadonlyMap<string, OrgSsoConfigState>;
  readonly requireSso: boolean;
  /** Domains that it has proved to be its own. */
  readonly domains: ReadonlySet<string>;
}

const initial: OrganizationState = {
  exists: false,
  slug: '',
  externalBaseUrl: '',
  tenants: new Set(),
  admins: new Map(),
  ssoConfigs: new Map(),
  requireSso: false,
  domains: new Set(),
};

export const organization = defineAggregate<OrganizationState, typeof organizationEvents>(organizationEvents, initial, (state, event) => {
  const changedAdmin = (adminId: string, change: (admin: OrgAdminState) => OrgAdminState): OrganizationState => {
    const admin = state.admins.get(adminId);
    return admin ? { ...state, admins: new Map(state.admins).set(adminId, change(admin)) } : state;
  };
  switch (event.type) {
    case 'OrganizationCreated':
      return { ...state, exists: true, slug: event.data.slug, externalBaseUrl: event.data.externalBaseUrl };
    case 'TenantAttached':
      return { ...state, tenants: new Set(state.tenants).add(event.data.tenantId) };
    case 'TenantDetached': {
      const tenants = new Set(state.tenants);
      tenants.delete(event.data.tenantId);
      return { ...state, tenants };
    }
    case 'OrgAdminCreated': {
      const { adminId, accountDigest, role, passwordRef } = event.data;
      const admin: OrgAdminState = { adminId, accountDigest, role, status: 'active', passwordRef, sessionEpoch: 0 };
      return { ...state, admins: new Map(state.admins).set(adminId, admin) };
    }
    case 'OrgAdminSuspended':
      return changedAdmin(event.data.adminId, (admin) => ({ ...admin, status: 'suspended', sessionEpoch: admin.sessionEpoch + 1 }));
    case 'OrgAdminReinstated':
      return changedAdmin(event.data.adminId, (admin) => ({ ...admin, status: 'active' }));
    case 'OrgAdminPasswordChanged':
      return changedAdmin(event.data.adminId, (admin) => ({ ...admin, passwordRef: event.data.passwordRef }));
    case 'OrgAdminSessionsRevoked':
      return changedAdmin(event.data.adminId, (admin) => ({ ...admin, sessionEpoch: admin.sessionEpoch + 1 }));
    case 'OrgSsoConfigCreated':
    case 'OrgSsoConfigUpdated':
      return { ...state, ssoConfigs: new Map(state.ssoConfigs).set(event.data.configId, event.data) };
    case 'OrgSsoConfigDeleted': {
      const ssoConfigs = new Map(state.ssoConfigs);
      ssoConfigs.delete(event.data.configId);
      return { ...state, ssoConfigs };
    }
    case 'OrgDomainVerified':
      return { ...state, domains: new Set(state.domains).add(event.data.domain) };
    case 'OrgDomainRemoved':
      return { ...state, domains: new Set([...state.domains].filter((domain) => domain !== event.data.domain)) };
    case 'OrgSsoRequirementSet':
      return { ...state, requireSso: event.data.requireSso };
  }
});

export const organizationStream = (organizationId: TenantId): string =>
  streamName('organization', organizationId, organizationId);

export const enabledConfigs = ({ ssoConfigs }: OrganizationState): OrgSsoConfigState[] =>
  [...ssoConfigs.values()].filter(({ isEnabled }) => isEnabled);

export const activeOwners = ({ admins }: OrganizationState): OrgAdminState[] =>
  [...admins.values()].filter(({ role, status }) => role === 'org_owner' && status === 'active');

/** The account that an e-mail's digest belongs to. */
export const orgAdminByAccount = ({ admins }: OrganizationState, accountDigest: string): OrgAdminState | undefined =>
  [...admins.values()].find((admin) => admin.accountDigest === accountDigest);

/** A slug names one organization of the installation. */
export const organizationSlugClaim = (slug: string): Claim => ({ kind: 'organization-slug', value: slug, tenantId: INSTALLATION });

/**
 * An e-mail administers at most one organization of an installation, so that a login needs no more than the e-mail to
 * find where it belongs: the claim's holder is that organization's stream.
 */
export const orgAdminAccountClaim = (accountDigest: string): Claim => ({ kind: 'org-admin-account', value: accountDigest, tenantId: INSTALLATION });

/** A tenant belongs to at most one organization. */
export const tenantOwnerClaim = (tenantId: TenantId): Claim => ({ kind: 'tenant-organization', value: tenantId, tenantId: INSTALLATION });

/** Where the vault keeps an admin's password hash, and a configuration's client secret. */
export const orgPasswordPlace = (adminId: string) => ({ owner: `org-admin/${adminId}`, field: 'passwordHash' });
export const orgSsoSecretPlace = (configId: string) => ({ owner: `org-sso-config/${configId}`, field: 'clientSecret' });
