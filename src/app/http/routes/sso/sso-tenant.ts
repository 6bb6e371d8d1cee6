import type { FastifyRequest } from 'fastify';
import { listTenants } from '../../../../../queries/tenants/list-tenants.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { HandlerContext } from '../../route.ts';
import { tenantOfHeader } from '../../tenant-header.ts';

export const tenantQuery = { tenant_id: uuid().optional() };

type Asking = Pick<HandlerContext<unknown, unknown, unknown>, 'ask'> & {
  readonly request: FastifyRequest;
  readonly query: { readonly tenant_id?: string | undefined };
};

/** The tenant of a single sign-on (choice OP-033): from query or header, or else the only tenant. */
export async function ssoTenantOf({ ask, request, query }: Asking): Promise<TenantId> {
  const named = query.tenant_id ?? tenantOfHeader(request);
  if (named !== undefined) return asTenantId(named);
  const [only, ...others] = await ask(listTenants, { most: 2 }, INSTALLATION);
  if (!only || others.length > 0) throw new FailureError(invalid('tenant_id', 'is required'));
  return asTenantId(only.id);
}
