import type { PolicyVersionRow } from '../../projections/policies/policy-versions.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/**
 * Increment this when the response for extensions gets new fields, so that no extension keeps a response of the old
 * shape.
 */
const SHAPE = 3;

/** The version after this many changes. */
export const policyVersionText = (changes: number): string => `${SHAPE}.${changes}`;

/** Changes whenever the content of `GET /ext/policies` changes. Reads one row. */
export const policyVersion: Query<undefined, string> = async (reads) => {
  const row = await reads.one<PolicyVersionRow>('select * from policy_versions where tenant_id = $1');
  return policyVersionText(row?.changes ?? 0);
};
