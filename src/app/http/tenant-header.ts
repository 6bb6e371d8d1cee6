import type { FastifyRequest } from 'fastify';
import type { FieldError } from '../../platform/kernel/failure.ts';
import { asTenantId, isUuid, type TenantId } from '../../platform/kernel/ids.ts';
import { declaredHeaders } from './declared-headers.ts';
import type { AnyRoute } from './route.ts';

export const TENANT_HEADER = 'X-Tenant-ID';

/**
 * A caller that names another tenant than its credential expects that tenant's data, and would take the own tenant's for them
 * (OP-030). Of an open route: what is no id, and what is missing or contradicts the body.
 */
export function wrongTenant(
  { headers, principal, body, unreadBody }: FastifyRequest,
  declared: AnyRoute<never>,
): FieldError | undefined {
  const header = headers['x-tenant-id'];
  const wrong = (message: string) => ({ field: TENANT_HEADER, message });
  if (principal)
    return header === undefined || String(header).toLowerCase() === principal.tenantId
      ? undefined
      : wrong('contradicts the credential: leave it out, or name its tenant');
  const need = declaredHeaders(declared)[TENANT_HEADER];
  if (need === undefined) return undefined;
  const inBody = need === 'or-in-body' ? tenantIn(body) : undefined;
  if (header === undefined || header === '') {
    const mayBeAbsent = need === 'optional' || inBody !== undefined || (need === 'or-in-body' && unreadBody);
    return mayBeAbsent ? undefined : wrong('is required');
  }
  if (!isUuid(header)) return wrong('must be a UUID');
  return inBody === undefined || String(inBody).toLowerCase() === header.toLowerCase()
    ? undefined
    : { field: 'tenantId', message: 'differs from X-Tenant-ID' };
}

/** Of a body that may be wrong. */
const tenantIn = (body: unknown): unknown => (body as { readonly tenantId?: unknown } | null | undefined)?.tenantId;

/** The tenant that `X-Tenant-ID` names, checked by `wrongTenant`; undefined without the header. */
export function tenantOfHeader({ headers }: Pick<FastifyRequest, 'headers'>): TenantId | undefined {
  const named = headers['x-tenant-id'];
  return named === undefined || named === '' ? undefined : asTenantId(String(named));
}

/** The tenant of a route that requires one. */
export function requiredTenant(request: Pick<FastifyRequest, 'headers'>, inBody?: TenantId | string): TenantId {
  const named = tenantOfHeader(request) ?? inBody;
  if (named === undefined) throw new TypeError('the route does not declare that it requires a tenant');
  return asTenantId(named);
}
