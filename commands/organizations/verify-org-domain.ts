import { MAX_DOMAINS, provedDomainClaim, type DomainProof } from '../../src/contexts/organizations/domain/domains.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { sharedDomainReason } from '../../src/contexts/organizations/domain/provable-domain.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface VerifyOrgDomain {
  /** Lower case. */
  readonly domain: string;
  readonly proof: DomainProof;
}

/**
 * Records that the organization owns a domain; the caller has checked the proof. A domain belongs to one organization
 * at a time.
 */
export const verifyOrgDomain = defineCommand({
  name: 'VerifyOrgDomain',
  aggregate: organization,
  stream: (_input: VerifyOrgDomain, { tenantId }) => organizationStream(tenantId),
  decide(state, { domain, proof }) {
    if (!state.exists) return notFound();
    if (state.domains.has(domain)) return accept([]);
    const shared = sharedDomainReason(domain);
    if (shared !== undefined) return invalid('domain', shared);
    if (state.domains.size >= MAX_DOMAINS) return conflict('limit_reached', 'too many domains');
    return accept([{ type: 'OrgDomainVerified', data: { domain, proof } }], { claim: [provedDomainClaim(domain)] });
  },
  whenClaimed: () => conflict('domain_taken'),
  freshens: ['org_domains'],
});
