import { FailureError, invalid, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { asTenantId, isUuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { FastifyRequest } from 'fastify';

/** The tenant of a login (choice OP-028), from header or body. Throws 400 if they differ. */
export function tenantNamed(request: FastifyRequest, inBody: string | undefined): TenantId {
  const header = request.headers['x-tenant-id'];
  if (header !== undefined && !isUuid(header)) throw new FailureError(invalid('X-Tenant-ID', 'must be a UUID'));
  const named = (header as string | undefined)?.toLowerCase() ?? inBody;
  if (!named) throw new FailureError(invalid('X-Tenant-ID', 'is required'));
  if (inBody && named !== inBody) throw new FailureError(invalid('tenantId', 'differs from X-Tenant-ID'));
  return asTenantId(named);
}

/** The header is optional on later calls, but must not contradict the token (choice OP-029). */
export function refuseOtherTenant(request: FastifyRequest, tenantId: TenantId): void {
  const header = request.headers['x-tenant-id'];
  if (header !== undefined && String(header).toLowerCase() !== tenantId) throw new FailureError(unauthenticated());
}
