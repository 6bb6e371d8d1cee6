import type { PolicyRow } from '../../projections/policies/policies.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { ORDER_BY_PRECEDENCE, toPolicyView, type PolicyView } from './policy-view.ts';

const SQL = `
  select * from policies
   where tenant_id = $1 and is_enabled and (group_ids = '[]'::jsonb or group_ids ?| $2::text[])
   ${ORDER_BY_PRECEDENCE}`;

/** The enabled policies that apply to a member of these groups, in the order of evaluation (choices OP-109, OP-113). */
export const policiesInForce: Query<{ groupIds: readonly string[] }, PolicyView[]> = async (reads, { groupIds }) =>
  (await reads.rows<PolicyRow>(SQL, [groupIds])).map(toPolicyView);
