import { z } from 'zod';
import { removeOrgDomain } from '../../../../../commands/organizations/remove-org-domain.ts';
import { verifyOrgDomain } from '../../../../../commands/organizations/verify-org-domain.ts';
import { listOrgDomains } from '../../../../../queries/organizations/list-org-domains.ts';
import { provedDomainView } from '../../../../../queries/organizations/org-domain-view.ts';
import { provableDomain } from '../../../../contexts/organizations/domain/provable-domain.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import {
  challengeOf,
  showsChallenge,
  type ProveDomainDependencies,
} from '../../../../contexts/organizations/prove-domain.ts';
import { orgOwnerReauthenticated, orgReader } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface OrgDomainsRouteDependencies extends ProveDomainDependencies {}

const route = routeWith<OrgDomainsRouteDependencies>();

const base = '/api/v1/org/domains';
const challengeView = z.object({
  domain: z.string(),
  status: z.enum(['pending', 'verified']),
  record: z.object({ name: z.string(), type: z.literal('TXT'), value: z.string() }),
});

export const orgDomainRoutes: RouteGroup<OrgDomainsRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: orgReader,
      summary: 'List the verified e-mail domains of the organization',
      response: z.object({ domains: z.array(provedDomainView), total: z.int() }),
      handle: ({ ask, principal: { tenantId: organizationId } }) =>
        ask(listOrgDomains, { organizationId }, INSTALLATION),
    }),
    route({
      method: 'POST',
      path: base,
      access: orgOwnerReauthenticated,
      summary: 'Verify an e-mail domain',
      refuses: ['domain_taken', 'name_servers_unreachable'],
      description:
        'Returns the TXT record to publish; `status` is `verified` once the name servers return it. 400 for public suffixes and for providers of e-mail for everybody. 409 if another organization has verified the domain.',
      body: z.object({ domain: provableDomain }),
      response: challengeView,
      handle: async ({ body: { domain }, services, run, principal: { tenantId } }) => {
        const record = challengeOf(services, tenantId, domain);
        if (!(await showsChallenge(services, record))) return { domain, status: 'pending' as const, record };
        await run(verifyOrgDomain, { domain, proof: 'dns' });
        return { domain, status: 'verified' as const, record };
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{domain}`,
      access: orgOwnerReauthenticated,
      summary: 'Remove a verified e-mail domain',
      description: 'Its e-mail addresses no longer lead to this organization.',
      params: z.object({ domain: z.string().toLowerCase().max(253) }),
      handle: async ({ params: { domain }, run }) => void (await run(removeOrgDomain, { domain })),
    }),
  ],
};
