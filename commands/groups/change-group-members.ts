import { group, groupStream, refuseUnlessOwner, type GroupOwner } from '../../src/contexts/groups/domain/group.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound } from '../../src/platform/kernel/failure.ts';
import { areKnown, memberChanges, recalledMembers, type MemberPorts } from './group-members.ts';

interface ChangeGroupMembers {
  readonly groupId: string;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** The source of the change; null for administrators (choice OP-229). */
  readonly by: GroupOwner | null;
}

/**
 * Adding an existing member, or removing a non-member, has no effect. Returns the numbers of added, removed and total
 * members.
 */
export const changeGroupMembers = defineCommand({
  name: 'ChangeGroupMembers',
  aggregate: group,
  stream: ({ groupId }: ChangeGroupMembers, { tenantId }) => groupStream(tenantId, groupId),
  prepare: async ({ groupId, add, by }: ChangeGroupMembers, ports: MemberPorts, { tenantId }) => ({
    areKnown: await areKnown(ports, tenantId, { groupId, owner: by, userIds: add }),
  }),
  decide(state, { groupId, add, remove, by }, _context, facts: { areKnown: boolean }) {
    if (!state.exists) return notFound();
    const refused = refuseUnlessOwner(state, by);
    if (refused) return refused;
    if (!facts.areKnown) return invalid('userIds', 'contains an id that is not an employee');
    const { events, ...numbers } = memberChanges(state, groupId, add, remove);
    return acceptWith(numbers, events);
  },
  recall: (before, events) => recalledMembers(before, events),
  freshens: ['groups', 'group_members', 'policy_versions'],
});
