import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import { group, groupStream, type GroupOwner } from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';
import { memberChanges } from './group-members.ts';

interface RemoveFormerMember {
  readonly groupId: string;
  readonly userId: string;
  /** The source that let the person go: only a group of that source loses them. Null for a deleted employee. */
  readonly of: GroupOwner | null;
}

/**
 * Removes a person who cannot be a member any more (OP-531), so that the version of the group rises with its list.
 * A person who has come back since then stays.
 */
export const removeFormerMember = defineCommand({
  name: 'RemoveFormerMember',
  aggregate: group,
  stream: ({ groupId }: RemoveFormerMember, { tenantId }) => groupStream(tenantId, groupId),
  async prepare({ userId, of }: RemoveFormerMember, { aggregates }: WithAggregates, { tenantId }) {
    const state = await aggregates.load(employee, employeeStream(tenantId, userId));
    return { isBack: state.status === 'present' && (of === null || linkWith(state, of) !== undefined) };
  },
  decide(state, { groupId, userId, of }, _context, { isBack }: { isBack: boolean }) {
    const isOfSource = of === null || (state.source === of.kind && state.sourceId === of.id);
    return accept(state.exists && isOfSource && !isBack ? memberChanges(state, groupId, [], [userId]).events : []);
  },
  freshens: ['groups', 'group_members', 'policy_versions'],
});
