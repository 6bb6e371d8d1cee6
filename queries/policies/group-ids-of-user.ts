import { invalid } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';

const SQL = 'select 1 as known from employees where tenant_id = $1 and user_id = $2';

/** The groups of an employee: which policies reach them (choice OP-113). Nobody is in one where there are none. */
export const groupIdsOfUser: Query<{ userId: string }, string[]> = async (reads, { userId }) =>
  (await reads.one(SQL, [userId])) ? [] : invalid('userId', 'names no employee');
