import { pushRules } from '../../src/contexts/notifications/domain/push-rule.resource.ts';
import { isFailure, type NamingRecord } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Push rules that would call nobody without this schedule. */
export const recordsThatNameSchedule: Query<{ scheduleId: string }, readonly NamingRecord[]> = async (
  reads,
  { scheduleId },
) => {
  const rules = await pushRules.all(reads, {});
  if (isFailure(rules)) return rules;
  const naming = rules.filter((rule) => rule.scheduleId === scheduleId);
  return naming.map(({ id, name }) => ({ kind: 'push rule', id, name }));
};
