import type { PolicyRow } from '../../projections/policies/policies.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toPolicyView, type PolicyView } from './policy-view.ts';

export const getPolicy: Query<{ policyId: string }, PolicyView> = async (reads, { policyId }) => {
  const row = await reads.one<PolicyRow>('select * from policies where tenant_id = $1 and policy_id = $2', [policyId]);
  return row ? toPolicyView(row) : notFound();
};
