import { z } from 'zod';
import type { EmployeeRow } from '../../projections/employees/employees.ts';
import { notFoundIn } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';

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

export const verifiableUserOrder: KeysetOrder<Verifiable> = {
  list: 'verification-users',
  columns: [descending('e.created_at', 'timestamptz'), ascending('e.user_id', 'uuid')],
  valuesOf: ({ created_at, user_id }) => [created_at, user_id],
};

// Select the page first: the last verification is looked up only for the people shown.
const pageOf = (where: string, tail: string) => `
  with page as (select * from employees e where e.tenant_id = $1 ${where} ${tail})
  select e.*, (select max(v.occurred_at) from verification_attempts v
                where v.tenant_id = $1 and v.user_id = e.user_id and v.result = 'success') as last_verified_at
    from page e
   ${orderBy(verifiableUserOrder)}`;
const NAME = 'select display_name from employees where tenant_id = $1 and user_id = $2';

export const listVerifiableUsers: Query<Page, { users: VerifiableUserView[] } & KeysetPaginated> = async (
  reads,
  asked,
) => {
  const { rows, ...pages } = await listPage(
    reads,
    { order: verifiableUserOrder, count: COUNT, page: ({ where, tail }) => pageOf(where, tail) },
    [],
    asked,
  );
  const users = rows.map((row) => ({
    id: row.user_id,
    email: row.email,
    displayName: row.display_name,
    department: row.department,
    isEnabled: row.is_active && row.has_enrolled,
    lastVerifiedAt: row.last_verified_at,
  }));
  return { users, ...pages };
};

export const nameOfUser: Query<{ userId: string }, string> = async (reads, { userId }) =>
  (await reads.one<{ display_name: string }>(NAME, [userId]))?.display_name ?? notFoundIn('userId', 'an employee');
