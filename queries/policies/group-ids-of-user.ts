import { invalid } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const SQL = `
  select coalesce((select jsonb_agg(m.group_id order by m.group_id) from group_members m where m.tenant_id = $1 and m.user_id = $2), '[]'::jsonb) as groups
    from employees e where e.tenant_id = $1 and e.user_id = $2`;

/** The groups of an employee, which determine the policies that apply (choice OP-113). */
export const groupIdsOfUser: Query<{ userId: string }, string[]> = async (reads, { userId }) => {
  const row = await reads.one<{ groups: string[] }>(SQL, [userId]);
  return row ? row.groups : invalid('userId', 'is not the id of an employee');
};

const MEMBERSHIPS = 'select group_id from group_members where tenant_id = $1 and user_id = $2 order by group_id';

/** The same from one table and without checking the employee, so that a cached response depends only on memberships. */
export const groupIdsOfMember: Query<{ userId: string }, string[]> = async (reads, { userId }) =>
  (await reads.rows<{ group_id: string }>(MEMBERSHIPS, [userId])).map(({ group_id }) => group_id);
