import { pushRules } from '../../src/contexts/notifications/domain/push-rule.resource.ts';
import { isFailure, type NamingRecord } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const NAMING = `
  select 'policy' as kind, policy_id::text as id, name from policies
   where tenant_id = $1 and group_ids ? $2
  union all
  select 'extension rollout', rollout_id::text, content->>'version' from extension_rollouts
   where tenant_id = $1 and status not in ('completed', 'rolled_back')
     and exists (select from jsonb_array_elements(content->'stages') planned(one) where planned.one->'groupIds' ? $2)
   order by 1, 3, 2`;

/** Records that would lose people, or reach nobody, without this group. Rollouts that have ended are history. */
export const recordsThatNameGroup: Query<{ groupId: string }, readonly NamingRecord[]> = async (reads, { groupId }) => {
  const [naming, rules] = await Promise.all([reads.rows<NamingRecord>(NAMING, [groupId]), pushRules.all(reads, {})]);
  if (isFailure(rules)) return rules;
  const selecting = rules.filter(({ groupIds }) => groupIds.includes(groupId));
  return [...naming, ...selecting.map(({ id, name }) => ({ kind: 'push rule', id, name }))];
};
