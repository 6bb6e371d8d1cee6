import { removeFormerMember } from '../../../../commands/groups/remove-former-member.ts';
import { employeeEvents } from '../../employees/domain/events.ts';
import { defineReaction, effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { id, json, type RowOf } from '../../../platform/kernel/read-model.ts';
import { groupEvents } from '../domain/events.ts';
import type { GroupOwner } from '../domain/group.ts';

const columns = { user_id: id, group_ids: json<readonly string[]>() };
type Row = RowOf<typeof columns>;

const ending = (row: Row | undefined, userId: string, of: GroupOwner | null): Effect[] =>
  (row?.group_ids ?? []).map((groupId) => effect(removeFormerMember, { groupId, userId, of }));

/**
 * Removes deleted employees from their groups, and users whom a SCIM client deleted from the groups of that client
 * (OP-531). The read model of members drops a deleted employee at once, so the groups of each person are stored here. A
 * directory states the members of its groups itself, with each synchronization.
 */
export const whenPersonLeavesEndMemberships = defineReaction({
  name: 'when-person-leaves-end-memberships',
  lane: 'main',
  families: [groupEvents, employeeEvents],
  state: { columns, key: ['user_id'] },
  on: {
    GroupMembersAdded: ({ data: { groupId, userIds } }) =>
      userIds.map((userId) => ({
        key: { user_id: userId },
        react: (row) => ({
          row: { user_id: userId, group_ids: [...new Set([...(row?.group_ids ?? []), groupId])] },
          effects: [],
        }),
      })),
    GroupMembersRemoved: ({ data: { groupId, userIds } }) =>
      userIds.map((userId) => ({
        key: { user_id: userId },
        react: (row) => {
          const left = (row?.group_ids ?? []).filter((one) => one !== groupId);
          return { row: left.length === 0 ? undefined : { user_id: userId, group_ids: left }, effects: [] };
        },
      })),
    EmployeeUnlinked: ({ data: { userId, source, how } }) => {
      if (source.kind !== 'scim' || how !== 'left') return [];
      return [{ key: { user_id: userId }, react: (row) => ({ row, effects: ending(row, userId, source) }) }];
    },
    EmployeeDeleted: ({ data: { userId } }) => [
      { key: { user_id: userId }, react: (row) => ({ row: undefined, effects: ending(row, userId, null) }) },
    ],
    EmployeeErased: ({ data: { userId } }) => [{ purge: { user_id: userId } }],
  },
});
