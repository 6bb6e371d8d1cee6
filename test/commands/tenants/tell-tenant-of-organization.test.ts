import { describe, it } from 'vitest';
import { tellTenantOfOrganization } from '../../../commands/tenants/tell-tenant-of-organization.ts';
import type { EventOf } from '../../../src/platform/kernel/event.ts';
import type { tenantEvents } from '../../../src/contexts/tenants/domain/events.ts';
import { given } from '../../dsl/given.ts';

type TenantEvent = EventOf<typeof tenantEvents>;
const NORTH = { organizationId: '44444444-4444-4444-8444-444444444444', name: 'North' };
const SOUTH = { organizationId: '55555555-5555-4555-8555-555555555555', name: 'South' };
const setUp: TenantEvent = {
  type: 'TenantSetUp',
  data: { name: 'Acme', slug: 'acme', externalBaseUrl: 'https://castellan.example' },
};
const joined: TenantEvent = { type: 'TenantJoinedOrganization', data: NORTH };
const left: TenantEvent = { type: 'TenantLeftOrganization', data: NORTH };

describe('telling a tenant of its organization', () => {
  const told = (isMember: boolean, of = NORTH) => ({ ...of, isMember });

  it('records that it joined, once', () => {
    given(setUp).when(tellTenantOfOrganization, told(true)).then(joined);
    given(setUp, joined).when(tellTenantOfOrganization, told(true)).thenNothing();
    given(setUp, joined, left).when(tellTenantOfOrganization, told(true)).then(joined);
  });

  it('records that it left, once, also if it was never told that it had joined', () => {
    given(setUp, joined).when(tellTenantOfOrganization, told(false)).then(left);
    given(setUp).when(tellTenantOfOrganization, told(false)).then(left);
    given(setUp, joined, left).when(tellTenantOfOrganization, told(false)).thenNothing();
    given(setUp, joined).when(tellTenantOfOrganization, told(false, SOUTH)).thenNothing();
  });

  it('needs a tenant', () => {
    given().when(tellTenantOfOrganization, told(true)).thenRefused('notFound');
  });
});
