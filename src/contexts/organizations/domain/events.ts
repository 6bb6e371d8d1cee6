import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { orgRoleSchema } from '../../identity/domain/roles.ts';
import { DEFAULT_ISSUER_TRUST, issuerTrust } from '../../sso/domain/fields.ts';
import { domainProofs } from './domains.ts';

const secretRef = uuid();
/** When an unused temporary password expires; null for a password chosen by its owner. */
const passwordExpiresAt = z.iso.datetime().nullable();
/**
 * Temporary passwords from before a change was enforced stay valid. Otherwise an upgrade would lock their owners out.
 */
const withoutForcedChange = (data: object) => ({ ...data, mustChangePassword: false, passwordExpiresAt: null });
const about = { resource: 'org_admin', id: 'adminId' } as const;
const personal = { subject: 'adminId', fields: ['email', 'displayName'] } as const;

const aboutConfig = { resource: 'org_sso_config', id: 'configId' } as const;
/** Always the complete configuration, even after a partial update, so that readers need no earlier event. */
const ssoConfig = z.object({
  configId: uuid(),
  name: z.string(),
  issuerUrl: z.string(),
  clientId: z.string(),
  clientSecretRef: uuid().nullable(),
  scopes: z.string(),
  emailDomains: z.array(z.string()),
  isEnabled: z.boolean(),
  ...issuerTrust,
});
/** Configurations from before an issuer's trust could be chosen. */
const ssoConfigUpcasters = { 1: (data: object) => ({ ...DEFAULT_ISSUER_TRUST, ...data }) };

/**
 * An organization's own stream: the organization, its tenants, its admins, its SSO configurations and whether SSO is
 * required.
 */
export const organizationEvents = defineEvents('organization', {
  OrganizationCreated: {
    version: 1,
    schema: z.object({ name: z.string(), slug: z.string(), externalBaseUrl: z.string() }),
    audit: 'organization.created',
  },
  OrganizationBaseUrlChanged: {
    version: 1,
    schema: z.object({ externalBaseUrl: z.string() }),
    audit: 'organization.base_url_changed',
  },
  TenantAttached: { version: 1, schema: z.object({ tenantId: uuid() }), audit: 'organization.tenant_attached' },
  /** The tenant no longer belongs to an organization; another one may attach it. */
  TenantDetached: { version: 1, schema: z.object({ tenantId: uuid() }), audit: 'organization.tenant_detached' },
  OrgAdminCreated: {
    version: 2,
    schema: z.object({
      adminId: uuid(),
      email: z.string(),
      /** Keyed digest of the folded e-mail, by which a login finds the account. */
      accountDigest: z.string(),
      displayName: z.string(),
      role: orgRoleSchema,
      passwordRef: secretRef,
      mustChangePassword: z.boolean(),
      passwordExpiresAt,
    }),
    upcasters: { 1: withoutForcedChange },
    personal,
    about,
    audit: 'org_admin.created',
  },
  OrgAdminUpdated: {
    version: 1,
    schema: z.object({
      adminId: uuid(),
      email: z.string().optional(),
      accountDigest: z.string().optional(),
      displayName: z.string().optional(),
    }),
    personal,
    about,
    audit: 'org_admin.updated',
  },
  OrgAdminRoleChanged: {
    version: 1,
    schema: z.object({ adminId: uuid(), role: orgRoleSchema }),
    about,
    audit: 'org_admin.role_changed',
  },
  OrgAdminDeleted: { version: 1, schema: z.object({ adminId: uuid() }), about, audit: 'org_admin.deleted' },
  OrgAdminSuspended: { version: 1, schema: z.object({ adminId: uuid() }), about, audit: 'org_admin.suspended' },
  OrgAdminReinstated: { version: 1, schema: z.object({ adminId: uuid() }), about, audit: 'org_admin.reinstated' },
  OrgAdminPasswordChanged: {
    version: 2,
    schema: z.object({
      adminId: uuid(),
      passwordRef: secretRef,
      mustChangePassword: z.boolean(),
      reason: z.enum(['changed', 'reset', 'recovered']),
      passwordExpiresAt,
    }),
    upcasters: { 1: withoutForcedChange },
    about,
    audit: 'org_admin.password_changed',
  },
  OrgAdminSessionsRevoked: {
    version: 1,
    schema: z.object({ adminId: uuid(), reason: z.string() }),
    about,
    audit: 'org_admin.sessions_revoked',
  },
  /** Like `OrgAdminSessionsRevoked`, except for the session that requested it. */
  OrgAdminOtherSessionsRevoked: {
    version: 1,
    schema: z.object({ adminId: uuid(), keptSessionId: uuid() }),
    about,
    audit: 'org_admin.other_sessions_revoked',
  },
  OrgAdminMfaSetupStarted: {
    version: 1,
    schema: z.object({ adminId: uuid(), totpSecretRef: secretRef }),
    about,
    audit: 'org_admin.mfa_setup_started',
  },
  OrgAdminMfaEnabled: {
    version: 1,
    schema: z.object({
      adminId: uuid(),
      totpSecretRef: secretRef,
      backupCodesRef: secretRef,
      backupCodes: z.int(),
      /** The time step of the code that enabled it (RFC 6238 §4.2). */
      step: z.int(),
    }),
    about,
    audit: 'org_admin.mfa_enabled',
  },
  OrgAdminBackupCodeUsed: {
    version: 1,
    // `sessionId`: the session that the sign-in begins; absent in events from before decision 0208.
    schema: z.object({ adminId: uuid(), backupCodesRef: secretRef, place: z.int(), sessionId: uuid().optional() }),
    about,
    audit: 'org_admin.backup_code_used',
  },
  OrgAdminMfaDisabled: {
    version: 1,
    schema: z.object({ adminId: uuid(), reason: z.enum(['removed', 'recovered']) }),
    about,
    audit: 'org_admin.mfa_disabled',
  },
  OrgSsoConfigCreated: {
    version: 2,
    schema: ssoConfig,
    upcasters: ssoConfigUpcasters,
    about: aboutConfig,
    audit: 'org_sso_config.created',
  },
  OrgSsoConfigUpdated: {
    version: 2,
    schema: ssoConfig,
    upcasters: ssoConfigUpcasters,
    about: aboutConfig,
    audit: 'org_sso_config.updated',
  },
  OrgSsoConfigDeleted: {
    version: 1,
    schema: z.object({ configId: uuid() }),
    about: aboutConfig,
    audit: 'org_sso_config.deleted',
  },
  /** E-mails of the domain are routed to this organization's provider from now on. */
  OrgDomainVerified: {
    version: 1,
    schema: z.object({ domain: z.string(), proof: z.enum(domainProofs) }),
    audit: 'organization.domain_verified',
  },
  OrgDomainRemoved: { version: 1, schema: z.object({ domain: z.string() }), audit: 'organization.domain_removed' },
  OrgSsoRequirementSet: {
    version: 1,
    schema: z.object({ requireSso: z.boolean() }),
    audit: 'organization.sso_requirement_set',
  },
});
export type OrganizationEvent = EventOf<typeof organizationEvents>;
