import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { attachTenant as attachTenantCommand } from '../../commands/organizations/attach-tenant.ts';
import { createOrganization as createOrganizationCommand } from '../../commands/organizations/create-organization.ts';
import { tenant, tenantStream } from '../domain/tenants/tenant.ts';
import { emailField } from '../domain/identity/password-rule.ts';
import { randomPassword } from '../identity/passwords.ts';
import { system } from '../kernel/actor.ts';
import { FailureError, invalid, orThrow } from '../kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { findOrganization } from './find-organization.ts';
import { findTenant } from '../tenants/find-tenant.ts';

export interface NewOrganization {
  readonly name: string;
  /** Made from the name when left out; a number is put behind one that is taken. */
  readonly slug?: string | undefined;
  readonly ownerEmail: string;
  /** Where browsers reach this service. Left out: as its first tenant says, or where it listens. */
  readonly externalBaseUrl?: string | undefined;
}

export interface CreatedOrganization {
  readonly organizationId: TenantId;
  readonly slug: string;
  /** Of its owner, shown this once. */
  readonly password: string;
}

/** Makes an organization and its owner. Throws `FailureError`: an e-mail administers one organization at most. */
export async function createOrganization(services: Services, { name, slug, ownerEmail, externalBaseUrl }: NewOrganization): Promise<CreatedOrganization> {
  if (!z.string().trim().min(1).max(200).safeParse(name).success) throw new FailureError(invalid('name', 'must be 1 to 200 characters long'));
  if (!emailField.safeParse(ownerEmail).success) throw new FailureError(invalid('owner-email', 'is not a valid email'));
  const organizationId = asTenantId(randomUUID());
  const password = randomPassword();
  const input = {
    name: name.trim(),
    slug: slug ?? null,
    externalBaseUrl: (externalBaseUrl ?? (await knownBaseUrl(services))).replace(/\/+$/, ''),
    adminId: randomUUID(),
    ownerEmail,
    ownerDisplayName: ownerEmail.split('@')[0]!,
    ownerPassword: password,
  };
  const issuer = { tenantId: organizationId, actor: system('castellan org create') };
  const { result } = orThrow(await services.executor.execute(createOrganizationCommand, input, issuer));
  return { organizationId, slug: result.slug, password };
}

/** Puts a tenant (its id or its slug) into the organization of this slug. */
export async function attachTenant(services: Services, { slug, tenant: named }: { slug: string; tenant: string }): Promise<void> {
  const organizationId = await findOrganization(services, slug);
  const attachedTenantId = await findTenant(services, named);
  const issuer = { tenantId: organizationId, actor: system('castellan org attach') };
  orThrow(await services.executor.execute(attachTenantCommand, { attachedTenantId }, issuer));
}

async function knownBaseUrl({ reads, loader, config }: Services): Promise<string> {
  const first = await reads(INSTALLATION).one<{ id: string }>('select id from tenant_directory where tenant_id = $1 order by slug limit 1');
  if (!first) return `http://${config.host}:${config.port}`;
  return (await loader.load(tenant, tenantStream(asTenantId(first.id)))).externalBaseUrl;
}
