import type { PolicyVersionRow } from '../../projections/policies/policy-versions.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** One more whenever an extension is told something that it was not told before, so that none keeps an answer of the old shape. */
const SHAPE = 3;

/** The version after so many changes. */
export const policyVersionText = (changes: number): string => `${SHAPE}.${changes}`;

/** Another text whenever anything changed that `GET /ext/policies` answers. One row is read. */
export const policyVersion: Query<undefined, string> = async (reads) => {
  const row = await reads.one<PolicyVersionRow>('select * from policy_versions where tenant_id = $1');
  return policyVersionText(row?.changes ?? 0);
};
