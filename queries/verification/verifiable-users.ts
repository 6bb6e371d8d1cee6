import { z } from 'zod';
import type { EmployeeRow } from '../../projections/employees/employees.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';

/** An employee who can be verified (choice OP-237). Enabled: active, and with an enrolled browser that shows codes. */
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

const COUNT = 'select count(*)::int as total from employees where tenant_id = $1';
// Select the page first: the last verification is looked up only for the people shown.
const PAGE = `
  with page as (select * from employees where tenant_id = $1 order by created_at desc, user_id limit $2 offset $3)
  select p.*, (select max(v.occurred_at) from verification_attempts v
                where v.tenant_id = $1 and v.user_id = p.user_id and v.result = 'success') as last_verified_at
    from page p
   order by p.created_at desc, p.user_id`;
const NAME = 'select display_name from employees where tenant_id = $1 and user_id = $2';

export const listVerifiableUsers: Query<Page, { users: VerifiableUserView[] } & Paginated> = async (reads, page) => {
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT),
    reads.rows<Verifiable>(PAGE, [page.pageSize, (page.page - 1) * page.pageSize]),
  ]);
  const users = rows.map((row) => ({
    id: row.user_id,
    email: row.email,
    displayName: row.display_name,
    department: row.department,
    isEnabled: row.is_active && row.has_enrolled,
    lastVerifiedAt: row.last_verified_at,
  }));
  return { users, ...paginated(count?.total ?? 0, page) };
};

export const nameOfUser: Query<{ userId: string }, string> = async (reads, { userId }) =>
  (await reads.one<{ display_name: string }>(NAME, [userId]))?.display_name ?? notFound();
