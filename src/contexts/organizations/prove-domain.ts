import { challengeName, challengeValue } from './domain/domains.ts';
import { FailureError, temporarilyUnavailable } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { TxtUnavailable, type TxtRecords } from '../../platform/outbound/txt-records.ts';

export interface ProveDomainDependencies {
  domainChallenge(of: string): string;
  readonly txtRecords: TxtRecords;
}

export interface DomainChallenge {
  readonly name: string;
  readonly type: 'TXT';
  readonly value: string;
}

/**
 * The record that proves a domain for one organization. Derived from both, so that nothing is stored before the proof.
 */
export const challengeOf = (
  { domainChallenge }: ProveDomainDependencies,
  organizationId: TenantId,
  domain: string,
): DomainChallenge => ({
  name: challengeName(domain),
  type: 'TXT',
  value: challengeValue(domainChallenge(`${organizationId}|${domain}`)),
});

/** True if the domain's name servers return the organization's record. */
export async function showsChallenge(
  { txtRecords }: ProveDomainDependencies,
  { name, value }: DomainChallenge,
): Promise<boolean> {
  try {
    return (await txtRecords(name)).includes(value);
  } catch (error) {
    if (error instanceof TxtUnavailable) throw new FailureError(temporarilyUnavailable('name_servers_unreachable'));
    throw error;
  }
}
