import type { FastifyRequest } from 'fastify';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import { tenantOfHeader } from '../../tenant-header.ts';

/** The header is optional on later calls, but must not contradict the token (choice OP-029). */
export function refuseOtherTenant(request: FastifyRequest, tenantId: TenantId): void {
  const named = tenantOfHeader(request);
  if (named !== undefined && named !== tenantId) throw new FailureError(unauthenticated());
}
