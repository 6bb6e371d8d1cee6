import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import { INSTALLATION, type TenantId } from '../../../platform/kernel/ids.ts';
import {
  newAccount,
  secretLocationsOf,
  withBackupCodeUsed,
  withMfa,
  withoutMfa,
  withoutSessions,
  withPassword,
  type AccountState,
} from '../../identity/domain/account.ts';
import type { OrgRole } from '../../identity/domain/roles.ts';
import type { IssuerTrust } from '../../sso/domain/fields.ts';
import { organizationEvents, type OrganizationEvent } from './events.ts';

export interface OrgAdminState extends AccountState {
  readonly role: OrgRole;
}

/** A configuration as decisions see it; the secret is a vault reference. */
export interface OrgSsoConfigState extends IssuerTrust {
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
  readonly name: string;
  readonly slug: string;
  readonly externalBaseUrl: string;
  readonly tenants: ReadonlySet<string>;
  readonly admins: ReadonlyMap<string, OrgAdminState>;
  readonly ssoConfigs: ReadonlyMap<string, OrgSsoConfigState>;
  readonly requireSso: boolean;
  /** Domains that the organization has proved to own. */
  readonly domains: ReadonlySet<string>;
}

const initial: OrganizationState = {
  exists: false,
  name: '',
  slug: '',
  externalBaseUrl: '',
  tenants: new Set(),
  admins: new Map(),
  ssoConfigs: new Map(),
  requireSso: false,
  domains: new Set(),
};

export const organization = defineAggregate<OrganizationState, typeof organizationEvents>(
  organizationEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'OrganizationCreated': {
        const { name, slug, externalBaseUrl } = event.data;
        return { ...state, exists: true, name, slug, externalBaseUrl };
      }
      case 'OrganizationBaseUrlChanged':
        return { ...state, externalBaseUrl: event.data.externalBaseUrl };
      case 'TenantAttached':
        return { ...state, tenants: new Set(state.tenants).add(event.data.tenantId) };
      case 'TenantDetached': {
        const tenants = new Set(state.tenants);
        tenants.delete(event.data.tenantId);
        return { ...state, tenants };
      }
      case 'OrgAdminCreated': {
        const { adminId, role } = event.data;
        return { ...state, admins: new Map(state.admins).set(adminId, { ...newAccount(event.data), role }) };
      }
      case 'OrgAdminDeleted': {
        const admins = new Map(state.admins);
        admins.delete(event.data.adminId);
        return { ...state, admins };
      }
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
      default: {
        const admin = state.admins.get(event.data.adminId);
        return admin
          ? { ...state, admins: new Map(state.admins).set(event.data.adminId, changedAdmin(admin, event)) }
          : state;
      }
    }
  },
);

/** Changes to one admin after the account was created. */
type OrgAdminChange = Exclude<
  Extract<OrganizationEvent, { type: `OrgAdmin${string}` }>,
  { type: 'OrgAdminCreated' | 'OrgAdminDeleted' }
>;

function changedAdmin(admin: OrgAdminState, event: OrgAdminChange): OrgAdminState {
  switch (event.type) {
    case 'OrgAdminUpdated':
      return { ...admin, accountDigest: event.data.accountDigest ?? admin.accountDigest };
    case 'OrgAdminRoleChanged':
      return { ...admin, role: event.data.role };
    case 'OrgAdminSuspended':
      return { ...withoutSessions(admin), status: 'suspended' };
    case 'OrgAdminReinstated':
      return { ...admin, status: 'active' };
    case 'OrgAdminPasswordChanged':
      return withPassword(admin, event.data);
    case 'OrgAdminSessionsRevoked':
      return withoutSessions(admin);
    case 'OrgAdminOtherSessionsRevoked':
      return withoutSessions(admin, event.data.keptSessionId);
    case 'OrgAdminMfaSetupStarted':
      return { ...admin, pendingTotpSecretRef: event.data.totpSecretRef };
    case 'OrgAdminMfaEnabled':
      return withMfa(admin, event.data);
    case 'OrgAdminBackupCodeUsed':
      return withBackupCodeUsed(admin, event.data);
    case 'OrgAdminMfaDisabled':
      return withoutMfa(admin);
  }
}

export const organizationStream = (organizationId: TenantId): string =>
  streamName('organization', organizationId, organizationId);

export const enabledConfigs = ({ ssoConfigs }: OrganizationState): OrgSsoConfigState[] =>
  [...ssoConfigs.values()].filter(({ isEnabled }) => isEnabled);

export const activeOwners = ({ admins }: OrganizationState): OrgAdminState[] =>
  [...admins.values()].filter(({ role, status }) => role === 'org_owner' && status === 'active');

/** The account with an e-mail's digest. */
export const orgAdminByAccount = ({ admins }: OrganizationState, accountDigest: string): OrgAdminState | undefined =>
  [...admins.values()].find((admin) => admin.accountDigest === accountDigest);

/** A slug identifies one organization of the installation. */
export const organizationSlugClaim = (slug: string): Claim => ({
  kind: 'organization-slug',
  value: slug,
  tenantId: INSTALLATION,
});

/**
 * An e-mail administers at most one organization of an installation. So a login needs only the e-mail to find the
 * organization: the claim's holder is its stream.
 */
export const orgAdminAccountClaim = (accountDigest: string): Claim => ({
  kind: 'org-admin-account',
  value: accountDigest,
  tenantId: INSTALLATION,
});

/** A tenant belongs to at most one organization. */
export const tenantOwnerClaim = (tenantId: TenantId): Claim => ({
  kind: 'tenant-organization',
  value: tenantId,
  tenantId: INSTALLATION,
});

/** Vault locations of an admin's secrets and of a configuration's client secret. */
export const orgAdminSecretLocations = secretLocationsOf('org-admin');
export const orgPasswordLocation = orgAdminSecretLocations.password;
export const orgSsoSecretLocation = (configId: string) => ({
  owner: `org-sso-config/${configId}`,
  field: 'clientSecret',
});
