import type { PolicyRow } from '../../projections/policies/policies.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { ORDER_BY_PRECEDENCE, toPolicyView, type PolicyView } from './policy-view.ts';

export const listPolicies: Query<undefined, { policies: PolicyView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<PolicyRow>(`select * from policies where tenant_id = $1 ${ORDER_BY_PRECEDENCE}`);
  return { policies: rows.map(toPolicyView), total: rows.length };
};
