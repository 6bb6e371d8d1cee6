import type { Claim } from '../../../platform/kernel/command.ts';
import { INSTALLATION } from '../../../platform/kernel/ids.ts';

/** How an organization showed that a domain is its own: by a TXT record, or by the word of whoever operates the installation. */
export const domainProofs = ['dns', 'operator'] as const;
export type DomainProof = (typeof domainProofs)[number];

/** Domains that one organization may have proved at a time. */
export const MAX_DOMAINS = 100;

/** A proved domain is one organization's: e-mails of it lead to that organization's provider. */
export const provedDomainClaim = (domain: string): Claim => ({
  kind: 'org-proved-domain',
  value: domain,
  tenantId: INSTALLATION,
});

/** Where the record is looked for. A label of its own, so that it never stands beside a domain's other TXT records. */
export const challengeName = (domain: string): string => `_castellan-challenge.${domain}`;

export const challengeValue = (digest: string): string => `castellan-domain-verification=${digest}`;
