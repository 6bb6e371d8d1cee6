import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import type { GroupEvent, GroupSource } from '../../src/contexts/groups/domain/events.ts';
import { group, groupStream } from '../../src/contexts/groups/domain/group.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface ChangeGroupMembers {
  readonly groupId: string;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** The origin of the change. Groups with another source cannot be changed manually (choice OP-229). */
  readonly by: GroupSource;
}

/**
 * Adding an existing member, or removing a non-member, has no effect. Returns the numbers of added, removed and total
 * members.
 */
export const changeGroupMembers = defineCommand({
  name: 'ChangeGroupMembers',
  aggregate: group,
  stream: ({ groupId }: ChangeGroupMembers, { tenantId }) => groupStream(tenantId, groupId),
  async prepare({ add }: ChangeGroupMembers, { aggregates }: { aggregates: AggregateReader }, { tenantId }) {
    const known = await Promise.all(add.map((userId) => aggregates.load(employee, employeeStream(tenantId, userId))));
    return { areKnown: known.every(({ status }) => status === 'present') };
  },
  decide(state, { groupId, add, remove, by }, _context, { areKnown }: { areKnown: boolean }) {
    if (!state.exists) return notFound();
    if (by === 'manual' && state.source !== 'manual') return conflict('group_managed');
    if (!areKnown) return invalid('userIds', 'contains an id that is not an employee');
    const added = [...new Set(add)].filter((userId) => !state.members.has(userId));
    const removed = [...new Set(remove)].filter((userId) => state.members.has(userId));
    const events: GroupEvent[] = [];
    if (added.length > 0) events.push({ type: 'GroupMembersAdded', data: { groupId, userIds: added } });
    if (removed.length > 0) events.push({ type: 'GroupMembersRemoved', data: { groupId, userIds: removed } });
    return acceptWith(
      { added: added.length, removed: removed.length, total: state.members.size + added.length - removed.length },
      events,
    );
  },
  recall(before, events) {
    const count = (type: GroupEvent['type']) =>
      events.reduce(
        (sum, event) => sum + (event.type === type ? (event.data as { userIds: readonly string[] }).userIds.length : 0),
        0,
      );
    const [added, removed] = [count('GroupMembersAdded'), count('GroupMembersRemoved')];
    return { added, removed, total: before.members.size + added - removed };
  },
  freshens: ['groups', 'group_members', 'policy_versions'],
});
