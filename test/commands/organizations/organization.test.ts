import { describe, expect, it } from 'vitest';
import { attachTenant } from '../../../commands/organizations/attach-tenant.ts';
import { createOrganization, type CreateOrganization } from '../../../commands/organizations/create-organization.ts';
import { detachTenant } from '../../../commands/organizations/detach-tenant.ts';
import type { OrganizationEvent } from '../../../src/contexts/organizations/domain/events.ts';
import { INSTALLATION } from '../../../src/platform/kernel/ids.ts';
import { given, TENANT } from '../../dsl/given.ts';

const ADMIN = '44444444-4444-4444-8444-444444444444';
const REF = '55555555-5555-4555-8555-555555555555';
const OTHER = '66666666-6666-4666-8666-666666666666' as typeof TENANT;

const input: CreateOrganization = {
  name: 'North MSSP',
  slug: null,
  externalBaseUrl: 'https://castellan.example',
  adminId: ADMIN,
  ownerEmail: 'owner@north.example',
  ownerDisplayName: 'owner',
  ownerPassword: 'not in any event',
};
const facts = { slug: 'north-mssp', accountDigest: 'digest', passwordRef: REF };
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { name: 'North MSSP', slug: 'north-mssp', externalBaseUrl: 'https://castellan.example' },
};

describe('creating an organization', () => {
  it('creates it together with its owner, and claims slug and account for the installation', () => {
    const outcome = given().when(createOrganization, input, facts);
    outcome.then(created, {
      type: 'OrgAdminCreated',
      data: {
        adminId: ADMIN,
        email: 'owner@north.example',
        accountDigest: 'digest',
        displayName: 'owner',
        role: 'org_owner',
        passwordRef: REF,
        mustChangePassword: true,
        passwordExpiresAt: '2026-06-08T12:00:00.000Z',
      },
    });
    outcome.thenTakes(
      { kind: 'organization-slug', value: 'north-mssp', tenantId: INSTALLATION },
      { kind: 'org-admin-account', value: 'digest', tenantId: INSTALLATION },
    );
    expect(outcome.result()).toEqual({ slug: 'north-mssp' });
  });

  it('is refused if it exists', () => {
    given(created).when(createOrganization, input, facts).thenRefused('conflict');
  });

  it('tries another slug after losing one, and reports a lost account', () => {
    expect(createOrganization.whenClaimed?.({ kind: 'organization-slug', value: 'x' })).toBe('prepareAgain');
    expect(createOrganization.whenClaimed?.({ kind: 'org-admin-account', value: 'x' })).toMatchObject({
      kind: 'conflict',
    });
  });
});

describe('attaching a tenant', () => {
  const there = { tenantExists: true };

  it('claims the tenant, which belongs to one organization', () => {
    const outcome = given(created).when(attachTenant, { attachedTenantId: OTHER }, there);
    outcome.then({ type: 'TenantAttached', data: { tenantId: OTHER } });
    outcome.thenTakes({ kind: 'tenant-organization', value: OTHER, tenantId: INSTALLATION });
  });

  it('has no effect the second time', () => {
    const attached: OrganizationEvent = { type: 'TenantAttached', data: { tenantId: OTHER } };
    given(created, attached).when(attachTenant, { attachedTenantId: OTHER }, there).thenNothing();
  });

  it('fails for an unknown tenant or organization', () => {
    given(created).when(attachTenant, { attachedTenantId: OTHER }, { tenantExists: false }).thenRefused('notFound');
    given().when(attachTenant, { attachedTenantId: OTHER }, there).thenRefused('notFound');
  });
});

describe('detaching a tenant', () => {
  const attached: OrganizationEvent = { type: 'TenantAttached', data: { tenantId: OTHER } };
  const detached: OrganizationEvent = { type: 'TenantDetached', data: { tenantId: OTHER } };

  it('releases it for others', () => {
    const outcome = given(created, attached).when(detachTenant, { detachedTenantId: OTHER });
    outcome.then(detached);
    outcome.thenReleases({ kind: 'tenant-organization', value: OTHER, tenantId: INSTALLATION });
  });

  it('fails for a tenant that does not belong to the organization, or no longer does', () => {
    given(created).when(detachTenant, { detachedTenantId: OTHER }).thenRefused('notFound');
    given(created, attached, detached).when(detachTenant, { detachedTenantId: OTHER }).thenRefused('notFound');
  });

  it('lets the same organization attach it again', () => {
    given(created, attached, detached)
      .when(attachTenant, { attachedTenantId: OTHER }, { tenantExists: true })
      .then(attached);
  });
});
