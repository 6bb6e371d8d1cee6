import { randomUUID } from 'node:crypto';
import { attachTenant } from '../../../commands/organizations/attach-tenant.ts';
import { tellTenantOfOrganization } from '../../../commands/tenants/tell-tenant-of-organization.ts';
import { createOrganization } from '../../../commands/organizations/create-organization.ts';
import { detachTenant } from '../../../commands/organizations/detach-tenant.ts';
import { recoverOrgAdmin } from '../../../commands/organizations/recover-org-admin.ts';
import { suspendOrgAdmin } from '../../../commands/organizations/suspend-org-admin.ts';
import { removeOrgDomain } from '../../../commands/organizations/remove-org-domain.ts';
import { verifyOrgDomain } from '../../../commands/organizations/verify-org-domain.ts';
import { unlockLogin } from '../../../commands/identity/unlock-login.ts';
import { updateSsoConfig } from '../../../commands/sso/update-sso-config.ts';
import { organization, organizationStream } from '../../contexts/organizations/domain/organization.ts';
import { baseUrlOr } from './known-base-url.ts';
import { emailDomain } from '../../contexts/sso/domain/fields.ts';
import { emailField } from '../../contexts/identity/domain/password-rule.ts';
import { findOrgAdmin, type FoundOrgAdmin, type OrgSignInDependencies } from '../../contexts/identity/org-sign-in.ts';
import { randomPassword } from '../../contexts/identity/passwords.ts';
import { system, type Actor } from '../../platform/kernel/actor.ts';
import { FailureError, invalid, notFound, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../platform/kernel/ids.ts';
import { findOrganization, type FindOrganizationDependencies } from '../../contexts/organizations/find-organization.ts';
import { managedConfigs } from '../../contexts/organizations/managed-configs.ts';
import { tenant, tenantStream } from '../../contexts/tenants/domain/tenant.ts';
import { findTenant, type FindTenantDependencies } from '../../contexts/tenants/find-tenant.ts';
import type { Logger } from 'pino';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import { nameField } from '../../platform/kernel/name-field.ts';

export interface OrganizationsCliDependencies
  extends FindOrganizationDependencies, FindTenantDependencies, OrgSignInDependencies {
  readonly config: { readonly host: string; readonly port: number };
  readonly log: Logger;
  readonly store: EventStore;
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly vault: Vault;
  accountDigest(email: string): string;
  reads(tenantId: TenantId): TenantReads;
}

export interface NewOrganization {
  readonly name: string;
  /** Derived from the name if left out, with a number appended if that one is taken. */
  readonly slug?: string | undefined;
  readonly ownerEmail: string;
  /** The URL at which browsers reach this service. By default that of the first tenant, or else the listener's address. */
  readonly externalBaseUrl?: string | undefined;
}

export interface CreatedOrganization {
  readonly organizationId: TenantId;
  readonly slug: string;
  /** The owner's temporary password. It is shown once and must be changed at the first sign-in. */
  readonly password: string;
}

/** Creates an organization and its owner. Throws `FailureError` if the e-mail already administers an organization. */
export async function createOrganizationAsOperator(
  services: OrganizationsCliDependencies,
  { name, slug, ownerEmail, externalBaseUrl }: NewOrganization,
): Promise<CreatedOrganization> {
  if (!nameField().safeParse(name).success)
    throw new FailureError(invalid('name', 'must be one line of 1 to 200 characters'));
  if (!emailField.safeParse(ownerEmail).success) throw new FailureError(invalid('owner-email', 'is not a valid email'));
  const organizationId = asTenantId(randomUUID());
  const password = randomPassword();
  const input = {
    name: name.trim(),
    slug: slug ?? null,
    externalBaseUrl: await baseUrlOr(services, externalBaseUrl),
    adminId: randomUUID(),
    ownerEmail,
    ownerDisplayName: ownerEmail.split('@')[0]!,
    ownerPassword: password,
  };
  const issuer = { tenantId: organizationId, actor: system('castellan org create') };
  const { result } = orThrow(await services.executor.execute(createOrganization, input, issuer));
  return { organizationId, slug: result.slug, password };
}

/** Attaches a tenant (by id or slug) to the organization with this slug. */
export async function attachTenantAsOperator(
  services: OrganizationsCliDependencies,
  { slug, tenant: named }: { slug: string; tenant: string },
): Promise<void> {
  const organizationId = await findOrganization(services, slug);
  const attachedTenantId = await findTenant(services, named);
  const issuer = { tenantId: organizationId, actor: system('castellan org attach') };
  orThrow(await services.executor.execute(attachTenant, { attachedTenantId }, issuer));
  await tellTenant(services, { organizationId, tenantId: attachedTenantId, isMember: true, actor: issuer.actor });
}

export interface DetachedTenant {
  /** Names of the organization's SSO configurations in the tenant that were switched off. Sessions begun through them end. */
  readonly switchedOff: readonly string[];
  /** Names of the tenant's own SSO configurations that stay enabled. */
  readonly stillEnabled: readonly string[];
}

/**
 * Detaches a tenant (by id or slug) from the organization with this slug. The organization's SSO configurations in the
 * tenant are switched off before, and again afterwards in case the organization switched one on in between.
 */
export async function detachTenantAsOperator(
  services: OrganizationsCliDependencies,
  { slug, tenant: named }: { slug: string; tenant: string },
): Promise<DetachedTenant> {
  const organizationId = await findOrganization(services, slug);
  const detachedTenantId = await findTenant(services, named);
  const { tenants } = await services.loader.load(organization, organizationStream(organizationId));
  const actor = system('castellan org detach');
  const tell = () => tellTenant(services, { organizationId, tenantId: detachedTenantId, isMember: false, actor });
  if (!tenants.has(detachedTenantId)) {
    // An earlier detach may have ended half-way.
    const told = await services.loader.load(tenant, tenantStream(detachedTenantId));
    if (told.organizationId === organizationId) await tell();
    throw new FailureError(notFound('tenant_not_attached'));
  }
  const before = await switchOffManaged(services, detachedTenantId, actor);
  orThrow(await services.executor.execute(detachTenant, { detachedTenantId }, { tenantId: organizationId, actor }));
  await tell();
  const after = await switchOffManaged(services, detachedTenantId, actor);
  const configs = await managedConfigs(services.store, detachedTenantId);
  return {
    switchedOff: [...new Set([...before, ...after])],
    stillEnabled: configs.flatMap(({ isEnabled, name }) => (isEnabled ? [name] : [])),
  };
}

interface ToldTenant {
  readonly organizationId: TenantId;
  readonly tenantId: TenantId;
  readonly isMember: boolean;
  readonly actor: Actor;
}

/** The organization's stream has decided. A command that is repeated after a crash tells the tenant then. */
async function tellTenant(
  services: OrganizationsCliDependencies,
  { organizationId, tenantId, isMember, actor }: ToldTenant,
): Promise<void> {
  const { name } = await services.loader.load(organization, organizationStream(organizationId));
  const told = { organizationId, name, isMember };
  orThrow(await services.executor.execute(tellTenantOfOrganization, told, { tenantId, actor }));
}

async function switchOffManaged(
  services: OrganizationsCliDependencies,
  tenantId: TenantId,
  actor: Actor,
): Promise<string[]> {
  const enabled = (await managedConfigs(services.store, tenantId)).filter(
    ({ isEnabled, managedBy }) => isEnabled && managedBy === 'organization',
  );
  for (const { configId } of enabled)
    orThrow(
      await services.executor.execute(
        updateSsoConfig,
        { configId, changes: { isEnabled: false } },
        { tenantId, actor },
      ),
    );
  return enabled.map(({ name }) => name);
}

/** How an operator names an organization's admin. */
export interface NamedOrgAdmin {
  /** The organization's slug or id. */
  readonly slug: string;
  readonly email: string;
}

export interface RecoveredOrgAdmin {
  /** Shown once; must be changed at the next sign-in. */
  readonly password: string;
  /** Whether the organization required single sign-on until now. */
  readonly liftedSso: boolean;
}

/** Like the recovery over HTTP, but without RECOVERY_KEY: an operator on the machine has all keys anyway. */
export async function recoverOrgAdminAsOperator(
  services: OrganizationsCliDependencies,
  named: NamedOrgAdmin,
): Promise<RecoveredOrgAdmin> {
  const { organizationId: tenantId, admin } = await findNamedOrgAdmin(services, named);
  const { adminId, accountDigest } = admin;
  const password = randomPassword();
  const issuer = { tenantId, actor: system('castellan org recover') };
  const { result } = orThrow(
    await services.executor.execute(recoverOrgAdmin, { adminId, tempPassword: password }, issuer),
  );
  orThrow(await services.executor.execute(unlockLogin, { accountDigest, subjectId: adminId }, issuer));
  return { password, liftedSso: result.liftedSso };
}

/** Suspends an admin of the organization. `recoverOrgAdminAsOperator` reverses it. */
export async function suspendOrgAdminAsOperator(
  services: OrganizationsCliDependencies,
  named: NamedOrgAdmin,
): Promise<void> {
  const { organizationId: tenantId, admin } = await findNamedOrgAdmin(services, named);
  const issuer = { tenantId, actor: system('castellan org suspend') };
  orThrow(await services.executor.execute(suspendOrgAdmin, { adminId: admin.adminId }, issuer));
}

/** Marks a domain as verified by the operator, if DNS cannot prove it (internal domain, unreachable name server). */
export async function vouchForDomain(
  services: OrganizationsCliDependencies,
  { slug, domain: named }: { slug: string; domain: string },
): Promise<void> {
  const organizationId = await findOrganization(services, slug);
  const issuer = { tenantId: organizationId, actor: system('castellan org verify-domain') };
  orThrow(await services.executor.execute(verifyOrgDomain, { domain: domainOf(named), proof: 'operator' }, issuer));
}

/** Removes a domain from an organization, however it was verified. */
export async function removeDomain(
  services: OrganizationsCliDependencies,
  { slug, domain: named }: { slug: string; domain: string },
): Promise<void> {
  const organizationId = await findOrganization(services, slug);
  const issuer = { tenantId: organizationId, actor: system('castellan org remove-domain') };
  const domain = domainOf(named);
  const outcome = await services.executor.execute(removeOrgDomain, { domain }, issuer);
  if ('failed' in outcome && outcome.kind === 'notFound')
    throw new FailureError(notFound('not_found', `the organization has no domain ${domain}`));
  orThrow(outcome);
}

function domainOf(text: string): string {
  const { success, data } = emailDomain.safeParse(text);
  if (!success) throw new FailureError(invalid('domain', 'must be a domain name'));
  return data;
}

async function findNamedOrgAdmin(
  services: OrganizationsCliDependencies,
  { slug, email }: NamedOrgAdmin,
): Promise<FoundOrgAdmin> {
  const organizationId = await findOrganization(services, slug);
  const found = await findOrgAdmin(services, services.accountDigest(email));
  if (found?.organizationId !== organizationId)
    throw new FailureError(notFound('not_found', 'the organization has no such admin'));
  return found;
}
