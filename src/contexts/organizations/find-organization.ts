import { organization, organizationSlugClaim, organizationStream } from './domain/organization.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { FailureError, notFound } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, isUuid, type TenantId } from '../../platform/kernel/ids.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { WithClaimHolder } from '../../../commands/ports.ts';

export interface FindOrganizationDependencies {
  readonly loader: AggregateLoader;
  readonly ports: WithClaimHolder;
}

/** Finds the organization that an operator names by id or slug. Throws `FailureError` if there is none. */
export async function findOrganization(
  { ports, loader }: FindOrganizationDependencies,
  named: string,
): Promise<TenantId> {
  const stream = isUuid(named)
    ? organizationStream(asTenantId(named))
    : await ports.claimHolder(INSTALLATION, organizationSlugClaim(named));
  if (!stream || !(await loader.load(organization, stream)).exists)
    throw new FailureError(notFound('not_found', 'there is no such organization'));
  return asTenantId(streamSubject(stream));
}
