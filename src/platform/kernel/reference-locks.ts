import type { TenantId } from './ids.ts';

/**
 * Keeps two decisions on different streams apart: that a record names another one, and that the other one is deleted
 * because nothing names it. Many may name a record at once; nobody begins to while it is being deleted (OP-591).
 */
export interface ReferenceLocks {
  naming<T>(tenantId: TenantId, ids: readonly string[], work: () => Promise<T>): Promise<T>;
  deleting<T>(tenantId: TenantId, id: string, work: () => Promise<T>): Promise<T>;
}

/** For an executor of one caller at a time. */
export const noReferenceLocks: ReferenceLocks = {
  naming: (_tenantId, _ids, work) => work(),
  deleting: (_tenantId, _id, work) => work(),
};
