import type { Claim, Claims } from '../../kernel/command.ts';
import { conflict, type Failure } from '../../kernel/failure.ts';
import { INSTALLATION } from '../../kernel/ids.ts';

/** What says for whose e-mails a configuration stands before every sign-in. */
interface Routed {
  readonly isEnabled: boolean;
  readonly emailDomains: readonly string[];
}

const ssoDomainClaim = (domain: string): Claim => ({ kind: 'org-sso-domain', value: domain, tenantId: INSTALLATION });
const routedDomains = (config: Routed | undefined): readonly string[] => (config?.isEnabled ? config.emailDomains : []);

/**
 * An e-mail's domain leads to one organization of an installation at most: otherwise whoever administers another one could name it
 * too, and have its people sent to a provider of their own. Claimed as long as an enabled configuration names it.
 */
export function ssoDomainClaims(was: Routed | undefined, is: Routed | undefined): Claims {
  const [before, after] = [new Set(routedDomains(was)), new Set(routedDomains(is))];
  return {
    take: [...after].filter((domain) => !before.has(domain)).map(ssoDomainClaim),
    release: [...before].filter((domain) => !after.has(domain)).map(ssoDomainClaim),
  };
}

export const whenSsoDomainClaimed = ({ value }: Claim): Failure => conflict(`emailDomains: another organization signs in ${value}`);
