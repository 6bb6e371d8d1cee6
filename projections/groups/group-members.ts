import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { groupEvents } from '../../src/contexts/groups/domain/events.ts';
import { at, defineReadModel, id, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { group_id: id, user_id: id, added_at: timestamp };
export type GroupMemberRow = Row<{ columns: typeof columns }>;

/** The members of each group. Deleted employees are in none. */
export const groupMembers = defineReadModel({
  name: 'group_members',
  version: 1,
  lane: 'main',
  columns,
  key: ['group_id', 'user_id'],
  indexes: [['user_id']],
  families: [groupEvents, employeeEvents],
  on: {
    GroupMembersAdded: (event) =>
      event.data.userIds.map((userId) => ({
        key: { group_id: event.data.groupId, user_id: userId },
        fold: (row: GroupMemberRow | undefined) =>
          row ?? { group_id: event.data.groupId, user_id: userId, added_at: at(event) },
      })),
    GroupMembersRemoved: ({ data: { groupId, userIds } }) =>
      userIds.map((userId) => ({ key: { group_id: groupId, user_id: userId }, fold: () => undefined })),
    GroupDeleted: ({ data: { groupId } }) => ({ purge: { group_id: groupId } }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
