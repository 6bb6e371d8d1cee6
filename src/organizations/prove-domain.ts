import { challengeName, challengeValue } from '../domain/organizations/domains.ts';
import { FailureError, unavailable } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import { TxtUnavailable } from '../outbound/txt-records.ts';
import type { Services } from '../services.ts';

export interface DomainChallenge {
  readonly name: string;
  readonly type: 'TXT';
  readonly value: string;
}

/** The record that proves a domain for one organization. A function of both, so that nothing is kept until it was seen. */
export const challengeOf = (
  { domainChallenge }: Pick<Services, 'domainChallenge'>,
  organizationId: TenantId,
  domain: string,
): DomainChallenge => ({
  name: challengeName(domain),
  type: 'TXT',
  value: challengeValue(domainChallenge(`${organizationId}|${domain}`)),
});

/** True where the domain's name servers show the organization's record. */
export async function showsChallenge(
  { txtRecords }: Pick<Services, 'txtRecords'>,
  { name, value }: DomainChallenge,
): Promise<boolean> {
  try {
    return (await txtRecords(name)).includes(value);
  } catch (error) {
    if (error instanceof TxtUnavailable) throw new FailureError(unavailable('the name servers cannot be reached'));
    throw error;
  }
}
