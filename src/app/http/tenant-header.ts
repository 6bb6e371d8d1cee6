import type { FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import { asTenantId, isUuid, type TenantId } from '../../platform/kernel/ids.ts';

/** The tenant that an unauthenticated request names (`X-Tenant-ID`, required). The handler checks that it exists. */
export function tenantOfHeader({ headers }: FastifyRequest): TenantId {
  const named = headers['x-tenant-id'];
  if (named === undefined || named === '') throw new FailureError(invalid('X-Tenant-ID', 'is required'));
  if (!isUuid(named)) throw new FailureError(invalid('X-Tenant-ID', 'must be a UUID'));
  return asTenantId(named);
}
