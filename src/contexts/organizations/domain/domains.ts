import type { Claim } from '../../../platform/kernel/command.ts';
import { INSTALLATION } from '../../../platform/kernel/ids.ts';

/**
 * How an organization proved that it owns a domain: by a TXT record, or by confirmation of the installation's operator.
 */
export const domainProofs = ['dns', 'operator'] as const;
export type DomainProof = (typeof domainProofs)[number];

/** Maximum number of proved domains per organization. */
export const MAX_DOMAINS = 100;

/** A proved domain belongs to one organization: its e-mails are routed to that organization's provider. */
export const provedDomainClaim = (domain: string): Claim => ({
  kind: 'org-proved-domain',
  value: domain,
  fields: ['domain'],
  tenantId: INSTALLATION,
});

/** The name of the TXT record. It has its own label, so that it never mixes with a domain's other TXT records. */
export const challengeName = (domain: string): string => `_castellan-challenge.${domain}`;

export const challengeValue = (digest: string): string => `castellan-domain-verification=${digest}`;
