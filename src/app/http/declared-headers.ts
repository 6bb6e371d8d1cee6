import { z } from 'zod';
import type { RequestHeaderNeeds } from './openapi/request-header-words.ts';
import type { AnyRoute } from './route.ts';

/** A route that asks for the tenant in the query takes it from the header, too (OP-033). */
const namesTenant = ({ query }: AnyRoute<never>): boolean => query instanceof z.ZodObject && 'tenant_id' in query.shape;

/** The headers that a route reads itself. */
export const declaredHeaders = (declared: AnyRoute<never>): RequestHeaderNeeds => ({
  ...(namesTenant(declared) ? { 'X-Tenant-ID': 'optional' } : {}),
  ...declared.takes,
});
