import { provedDomainClaim } from '../../src/contexts/organizations/domain/domains.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RemoveOrgDomain {
  readonly domain: string;
}

/** Releases a domain: its e-mails are no longer routed to this organization, and another one may prove it. */
export const removeOrgDomain = defineCommand({
  name: 'RemoveOrgDomain',
  aggregate: organization,
  stream: (_input: RemoveOrgDomain, { tenantId }) => organizationStream(tenantId),
  decide(state, { domain }) {
    if (!state.domains.has(domain)) return notFound();
    return accept([{ type: 'OrgDomainRemoved', data: { domain } }], { release: [provedDomainClaim(domain)] });
  },
  freshens: ['org_domains'],
});
