import { z } from 'zod';
import { defineEvents, type EventOf } from '../../kernel/event.ts';
import { uuid } from '../../kernel/ids.ts';
import { orgRoleSchema } from '../identity/roles.ts';
import { domainProofs } from './domains.ts';

const about = { resource: 'org_admin', id: 'adminId' } as const;
const personal = { subject: 'adminId', fields: ['email', 'displayName'] } as const;

const aboutConfig = { resource: 'org_sso_config', id: 'configId' } as const;
/** Always whole, whatever an update named: a reader needs no event before it. */
const ssoConfig = z.object({
  configId: uuid(),
  name: z.string(),
  issuerUrl: z.string(),
  clientId: z.string(),
  clientSecretRef: uuid().nullable(),
  scopes: z.string(),
  emailDomains: z.array(z.string()),
  isEnabled: z.boolean(),
});

/** An organization's own stream: itself, its tenants, its admins, its SSO configurations and whether SSO is required. */
export const organizationEvents = defineEvents('organization', {
  OrganizationCreated: { version: 1, schema: z.object({ name: z.string(), slug: z.string(), externalBaseUrl: z.string() }), audit: 'organization.created' },
  TenantAttached: { version: 1, schema: z.object({ tenantId: uuid() }), audit: 'organization.tenant_attached' },
  /** The tenant is on its own again; another organization may take it. */
  TenantDetached: { version: 1, schema: z.object({ tenantId: uuid() }), audit: 'organization.tenant_detached' },
  OrgAdminCreated: {
    version: 1,
    schema: z.object({
      adminId: uuid(),
      email: z.string(),
      /** Keyed digest of the folded e-mail: how a login finds the account. */
      accountDigest: z.string(),
      displayName: z.string(),
      role: orgRoleSchema,
      passwordRef: uuid(),
    }),
    personal,
    about,
    audit: 'org_admin.created',
  },
  OrgAdminSuspended: { version: 1, schema: z.object({ adminId: uuid() }), about, audit: 'org_admin.suspended' },
  OrgAdminReinstated: { version: 1, schema: z.object({ adminId: uuid() }), about, audit: 'org_admin.reinstated' },
  OrgAdminPasswordChanged: {
    version: 1,
    schema: z.object({ adminId: uuid(), passwordRef: uuid(), reason: z.enum(['recovered']) }),
    about,
    audit: 'org_admin.password_changed',
  },
  OrgAdminSessionsRevoked: { version: 1, schema: z.object({ adminId: uuid(), reason: z.string() }), about, audit: 'org_admin.sessions_revoked' },
  OrgSsoConfigCreated: {
    version: 1,
    schema: ssoConfig,
    about: aboutConfig,
    audit: 'org_sso_config.created',
  },
  OrgSsoConfigUpdated: {
    version: 1,
    schema: ssoConfig,
    about: aboutConfig,
    audit: 'org_sso_config.updated',
  },
  OrgSsoConfigDeleted: { version: 1, schema: z.object({ configId: uuid() }), about: aboutConfig, audit: 'org_sso_config.deleted' },
  /** From now on e-mails of the domain lead to this organization's provider. */
  OrgDomainVerified: { version: 1, schema: z.object({ domain: z.string(), proof: z.enum(domainProofs) }), audit: 'organization.domain_verified' },
  OrgDomainRemoved: { version: 1, schema: z.object({ domain: z.string() }), audit: 'organization.domain_removed' },
  OrgSsoRequirementSet: { version: 1, schema: z.object({ requireSso: z.boolean() }), audit: 'organization.sso_requirement_set' },
});
export type OrganizationEvent = EventOf<typeof organizationEvents>;
