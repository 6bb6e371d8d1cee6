import { z } from 'zod';
import type { OrgDomainRow } from '../../projections/organizations/org-domains.ts';
import { domainProofs } from '../../src/contexts/organizations/domain/domains.ts';

export const provedDomainView = z.object({
  domain: z.string(),
  proof: z.enum(domainProofs),
  verifiedAt: z.iso.datetime(),
});
export type ProvedDomain = z.output<typeof provedDomainView>;

export const toProvedDomain = ({ domain, proof, verified_at: verifiedAt }: OrgDomainRow): ProvedDomain => ({
  domain,
  proof,
  verifiedAt,
});
