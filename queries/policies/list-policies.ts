import type { PolicyRow } from '../../projections/policies/policies.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { IN_ORDER, policyOf, type PolicyView } from './policy-view.ts';

export const listPolicies: Query<undefined, { policies: PolicyView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<PolicyRow>(`select * from policies where tenant_id = $1 ${IN_ORDER}`);
  return { policies: rows.map(policyOf), total: rows.length };
};
