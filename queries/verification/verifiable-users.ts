import { z } from 'zod';
import type { EmployeeRow } from '../../projections/employees/employees.ts';
import { notFound } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';

/** An employee as somebody to be verified (choice OP-237). Enabled is who is active and has a browser that shows codes. */
export const verifiableUserView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    displayName: z.string(),
    department: z.string().nullable(),
    isEnabled: z.boolean(),
    lastVerifiedAt: z.iso.datetime().nullable(),
  })
  .meta({ title: 'VerifiableUser' });
type VerifiableUserView = z.output<typeof verifiableUserView>;

type Verifiable = EmployeeRow & { readonly last_verified_at: string | null };

const ALL = `
  select e.*, v.last_verified_at
    from employees e
    left join (select user_id, max(occurred_at) as last_verified_at
                 from verification_attempts where tenant_id = $1 and result = 'success' group by user_id) v on v.user_id = e.user_id
   where e.tenant_id = $1
   order by e.created_at desc, e.user_id`;
const NAME = 'select display_name from employees where tenant_id = $1 and user_id = $2';

export const listVerifiableUsers: Query<undefined, { users: VerifiableUserView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<Verifiable>(ALL);
  const users = rows.map((row) => ({
    id: row.user_id,
    email: row.email,
    displayName: row.display_name,
    department: row.department,
    isEnabled: row.is_active && row.has_enrolled,
    lastVerifiedAt: row.last_verified_at,
  }));
  return { users, total: users.length };
};

export const nameOfUser: Query<{ userId: string }, string> = async (reads, { userId }) =>
  (await reads.one<{ display_name: string }>(NAME, [userId]))?.display_name ?? notFound();
