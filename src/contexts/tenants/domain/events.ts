import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { adminRoleSchema } from '../../identity/domain/roles.ts';
import { licenseSchema } from './license.ts';

const adminId = uuid();
const secretRef = uuid();
/** When an unused temporary password expires; null for a password chosen by its owner. */
const passwordExpiresAt = z.iso.datetime().nullable();
/** Temporary passwords from before expiry was introduced do not expire. */
const withoutExpiry = (data: object) => ({ ...data, passwordExpiresAt: null });
const aboutAdmin = { resource: 'admin_user', id: 'adminId' } as const;
const ofAdmin = { subject: 'adminId', fields: ['email', 'displayName'] } as const;

/**
 * A tenant's own stream holds the tenant, its license, its certificate authority and its admins, because rules connect
 * them: the last super admin cannot be removed, and the first one is created together with the tenant.
 */
export const tenantEvents = defineEvents('tenant', {
  TenantSetUp: {
    version: 1,
    schema: z.object({ name: z.string(), slug: z.string(), externalBaseUrl: z.string() }),
    audit: 'tenant.set_up',
  },
  TenantBaseUrlChanged: {
    version: 1,
    schema: z.object({ externalBaseUrl: z.string() }),
    audit: 'tenant.base_url_changed',
  },
  /** An organization administers the tenant from now on, within its own rights. `name` is what it was called then. */
  TenantJoinedOrganization: {
    version: 1,
    schema: z.object({ organizationId: uuid(), name: z.string() }),
    audit: 'tenant.joined_organization',
  },
  TenantLeftOrganization: {
    version: 1,
    schema: z.object({ organizationId: uuid(), name: z.string() }),
    audit: 'tenant.left_organization',
  },
  LicenseInstalled: { version: 1, schema: licenseSchema, audit: 'license.installed' },
  AdminUserCreated: {
    version: 2,
    schema: z.object({
      adminId,
      email: z.string(),
      /** Keyed digest of the folded e-mail, by which a login finds the account. */
      accountDigest: z.string(),
      displayName: z.string(),
      roleType: adminRoleSchema,
      passwordRef: secretRef,
      mustChangePassword: z.boolean(),
      passwordExpiresAt,
    }),
    upcasters: { 1: withoutExpiry },
    personal: ofAdmin,
    about: aboutAdmin,
    audit: 'admin_user.created',
  },
  AdminUserUpdated: {
    version: 1,
    schema: z.object({
      adminId,
      email: z.string().optional(),
      accountDigest: z.string().optional(),
      displayName: z.string().optional(),
    }),
    personal: ofAdmin,
    about: aboutAdmin,
    audit: 'admin_user.updated',
  },
  AdminRoleChanged: {
    version: 1,
    schema: z.object({ adminId, roleType: adminRoleSchema }),
    about: aboutAdmin,
    audit: 'admin_user.role_changed',
  },
  AdminSuspended: { version: 1, schema: z.object({ adminId }), about: aboutAdmin, audit: 'admin_user.suspended' },
  AdminReinstated: { version: 1, schema: z.object({ adminId }), about: aboutAdmin, audit: 'admin_user.reinstated' },
  AdminUserDeleted: { version: 1, schema: z.object({ adminId }), about: aboutAdmin, audit: 'admin_user.deleted' },
  AdminPasswordChanged: {
    version: 2,
    schema: z.object({
      adminId,
      passwordRef: secretRef,
      mustChangePassword: z.boolean(),
      reason: z.enum(['changed', 'reset', 'recovered']),
      passwordExpiresAt,
    }),
    upcasters: { 1: withoutExpiry },
    about: aboutAdmin,
    audit: 'admin_user.password_changed',
  },
  /** Every session that began before this event is revoked. */
  AdminSessionsRevoked: {
    version: 1,
    schema: z.object({ adminId, reason: z.string() }),
    about: aboutAdmin,
    audit: 'admin_user.sessions_revoked',
  },
  /** Like `AdminSessionsRevoked`, except for the session that requested it. */
  AdminOtherSessionsRevoked: {
    version: 1,
    schema: z.object({ adminId, keptSessionId: uuid() }),
    about: aboutAdmin,
    audit: 'admin_user.other_sessions_revoked',
  },
  AdminMobileAccessSet: {
    version: 1,
    schema: z.object({ adminId, mobileAccess: z.boolean() }),
    about: aboutAdmin,
    audit: 'admin_user.mobile_access_set',
  },
  /** A secret was handed out; sign-ins do not require it before its first code was presented. */
  AdminMfaSetupStarted: {
    version: 1,
    schema: z.object({ adminId, totpSecretRef: secretRef }),
    about: aboutAdmin,
    audit: 'admin_user.mfa_setup_started',
  },
  AdminMfaEnabled: {
    version: 1,
    schema: z.object({
      adminId,
      totpSecretRef: secretRef,
      backupCodesRef: secretRef,
      backupCodes: z.int(),
      /** The time step of the code that enabled it (RFC 6238 §4.2). */
      step: z.int(),
    }),
    about: aboutAdmin,
    audit: 'admin_user.mfa_enabled',
  },
  AdminBackupCodeUsed: {
    version: 1,
    // `sessionId`: the session that the sign-in begins; absent in events from before decision 0208.
    schema: z.object({ adminId, backupCodesRef: secretRef, place: z.int(), sessionId: uuid().optional() }),
    about: aboutAdmin,
    audit: 'admin_user.backup_code_used',
  },
  AdminMfaDisabled: {
    version: 1,
    schema: z.object({ adminId, reason: z.enum(['removed', 'recovered']) }),
    about: aboutAdmin,
    audit: 'admin_user.mfa_disabled',
  },
  CertificateAuthorityInstalled: {
    version: 1,
    schema: z.object({
      certificatePem: z.string(),
      privateKeyRef: secretRef,
      fingerprintSha256: z.string(),
      subject: z.string(),
      serialNumber: z.string(),
      notBefore: z.iso.datetime(),
      expiresAt: z.iso.datetime(),
      source: z.enum(['generated', 'uploaded']),
    }),
    audit: 'certificate_authority.installed',
  },
  CertificateAuthorityRemoved: {
    version: 1,
    schema: z.object({ fingerprintSha256: z.string() }),
    audit: 'certificate_authority.removed',
  },
});

export type TenantEvent = EventOf<typeof tenantEvents>;
