import { slugClaim } from '../../../commands/tenants/set-up-tenant.ts';
import { tenant, tenantStream } from './domain/tenant.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { FailureError, notFound } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, isUuid, type TenantId } from '../../platform/kernel/ids.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { WithClaimHolder } from '../../../commands/ports.ts';

export interface FindTenantDependencies {
  readonly loader: AggregateLoader;
  readonly ports: WithClaimHolder;
}

/** Finds the tenant that an operator names by id or slug. Throws `FailureError` if there is none. */
export async function findTenant({ ports, loader }: FindTenantDependencies, named: string): Promise<TenantId> {
  const stream = isUuid(named)
    ? tenantStream(asTenantId(named))
    : await ports.claimHolder(INSTALLATION, slugClaim(named));
  if (!stream || !(await loader.load(tenant, stream)).exists)
    throw new FailureError(notFound('not_found', 'there is no such tenant'));
  return asTenantId(streamSubject(stream));
}
