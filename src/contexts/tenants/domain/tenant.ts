import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { License } from './license.ts';
import { foldAdmin, newAdmin, type AdminState } from './admin.ts';
import { tenantEvents } from './events.ts';

export type { AdminState } from './admin.ts';

export interface AuthorityState {
  readonly certificatePem: string;
  readonly privateKeyRef: string;
  readonly fingerprintSha256: string;
  readonly expiresAt: string;
}

export interface TenantState {
  readonly exists: boolean;
  readonly name: string;
  readonly slug: string;
  readonly externalBaseUrl: string;
  /**
   * The organization that the tenant was last told to belong to; null: to none; undefined: it was never told. The
   * organization's own stream decides.
   */
  readonly organizationId: string | null | undefined;
  readonly license: License | undefined;
  /** The highest number of users that any license of this tenant allowed. */
  readonly seatsEverGranted: number;
  readonly admins: ReadonlyMap<string, AdminState>;
  /** The authority that signs now; undefined if an admin removed it. */
  readonly authority: AuthorityState | undefined;
  /** Every CA certificate ever installed: devices of a former one are accepted until their certificates expire. */
  readonly trustedAuthorities: readonly string[];
  /** Fingerprints of authorities that an administrator removed rather than replaced. */
  readonly removedAuthorities: ReadonlySet<string>;
}

const initial: TenantState = {
  exists: false,
  name: '',
  slug: '',
  externalBaseUrl: '',
  organizationId: undefined,
  license: undefined,
  seatsEverGranted: 0,
  admins: new Map(),
  authority: undefined,
  trustedAuthorities: [],
  removedAuthorities: new Set(),
};

export const tenant = defineAggregate<TenantState, typeof tenantEvents>(tenantEvents, initial, (state, event) => {
  switch (event.type) {
    case 'TenantSetUp':
      return { ...state, ...event.data, exists: true };
    case 'TenantBaseUrlChanged':
      return { ...state, externalBaseUrl: event.data.externalBaseUrl };
    case 'TenantJoinedOrganization':
      return { ...state, organizationId: event.data.organizationId };
    case 'TenantLeftOrganization':
      return { ...state, organizationId: null };
    case 'LicenseInstalled':
      return { ...state, license: event.data, seatsEverGranted: Math.max(state.seatsEverGranted, event.data.maxUsers) };
    case 'AdminUserCreated':
      return { ...state, admins: new Map(state.admins).set(event.data.adminId, newAdmin(event.data)) };
    case 'AdminUserDeleted': {
      const admins = new Map(state.admins);
      admins.delete(event.data.adminId);
      return { ...state, admins };
    }
    case 'CertificateAuthorityInstalled': {
      const { certificatePem, privateKeyRef, fingerprintSha256, expiresAt } = event.data;
      return {
        ...state,
        authority: { certificatePem, privateKeyRef, fingerprintSha256, expiresAt },
        removedAuthorities: without(state.removedAuthorities, fingerprintSha256),
        trustedAuthorities: state.trustedAuthorities.includes(certificatePem)
          ? state.trustedAuthorities
          : [...state.trustedAuthorities, certificatePem],
      };
    }
    case 'CertificateAuthorityRemoved':
      return {
        ...state,
        authority: undefined,
        removedAuthorities: new Set(state.removedAuthorities).add(event.data.fingerprintSha256),
      };
    default: {
      const { adminId } = event.data;
      const admin = state.admins.get(adminId);
      return admin ? { ...state, admins: new Map(state.admins).set(adminId, foldAdmin(admin, event)) } : state;
    }
  }
});

const without = (all: ReadonlySet<string>, one: string): ReadonlySet<string> =>
  new Set([...all].filter((other) => other !== one));

/** Each tenant has one such stream. */
export const tenantStream = (tenantId: TenantId): string => streamName('tenant', tenantId, tenantId);

export const activeSuperAdmins = ({ admins }: TenantState): AdminState[] =>
  [...admins.values()].filter(({ role, status }) => role === 'super_admin' && status === 'active');

/** The account with an e-mail's digest. */
export const adminByAccount = ({ admins }: TenantState, accountDigest: string): AdminState | undefined =>
  [...admins.values()].find((admin) => admin.accountDigest === accountDigest);

/**
 * An e-mail belongs to one admin within a tenant. The claim uses its digest, so that releasing it does not require the
 * e-mail.
 */
export const adminEmailClaim = (accountDigest: string): Claim => ({
  kind: 'admin-email',
  value: accountDigest,
  fields: ['email'],
});

/**
 * E-mails are compared without case: RFC 5321 leaves the local part to the receiver, but in practice case does not
 * distinguish two people.
 */
export const foldedEmail = (email: string): string => email.trim().toLowerCase();
