import type { Query } from '../../src/platform/kernel/query.ts';

/** Ids of the groups that a person is in. */
export const groupsOfPerson: Query<{ readonly userId: string }, readonly string[]> = async (reads, { userId }) => {
  const rows = await reads.rows<{ group_id: string }>(
    'select group_id from group_members where tenant_id = $1 and user_id = $2 order by group_id',
    [userId],
  );
  return rows.map(({ group_id: id }) => id);
};
