import { z } from 'zod';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';

/** Choice OP-064. */
export const credentialView = z
  .object({
    id: z.uuid(),
    domain: z.string(),
    url: z.string().nullable(),
    username: z.string().nullable(),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    entryCount: z.int(),
    /** The last entered password is also used on another site. */
    isReused: z.boolean(),
    /** The last entered password is known from a breach. */
    isBreached: z.boolean(),
  })
  .meta({ title: 'Credential' });
export type CredentialView = z.output<typeof credentialView>;

interface AccountRow {
  credential_id: string;
  domain: string;
  url: string | null;
  username: string;
  first_seen_at: string;
  last_seen_at: string;
  entry_count: number;
  is_reused: boolean;
  is_breached: boolean;
}

/** Collation `"C"` matches the digest order of `credential_stats`. */
const accounts = (where: string, tail: string) => `
  with uses as (select * from credential_uses where tenant_id = $1 and user_id = $2),
  accounts as (
    select credential_id, domain, username, min(site) as site,
           min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at, sum(entry_count)::bigint as entry_count,
           (array_agg(url order by last_seen_at desc, password_hash collate "C" desc))[1] as url,
           (array_agg(password_hash order by last_seen_at desc, password_hash collate "C" desc))[1] as password_hash
      from uses group by credential_id, domain, username),
  reused as (select password_hash from accounts group by password_hash having count(distinct site) > 1)
  select a.*, a.password_hash in (select password_hash from reused) as is_reused,
         a.password_hash in (select password_hash from uses where is_breached) as is_breached
    from accounts a where true ${where} ${tail}`;
const TOTAL = `select count(distinct credential_id)::int as total from credential_uses where tenant_id = $1 and user_id = $2`;

export const credentialOrder: KeysetOrder<AccountRow> = {
  list: 'credentials',
  columns: [descending('a.last_seen_at', 'timestamptz'), ascending('a.credential_id', 'uuid')],
  valuesOf: ({ last_seen_at, credential_id }) => [last_seen_at, credential_id],
};

export const employeeExists = 'select 1 as known from employees where tenant_id = $1 and user_id = $2';

/** Accounts for which an employee entered a password, latest first. */
export const employeeCredentials: Query<
  { userId: string } & Page,
  { credentials: CredentialView[] } & KeysetPaginated
> = async (reads, { userId, ...page }) => {
  if (!(await reads.one(employeeExists, [userId]))) return notFound();
  const { rows, ...pages } = await listPage(
    reads,
    { order: credentialOrder, count: TOTAL, page: ({ where, tail }) => accounts(where, tail) },
    [userId],
    page,
  );
  return { credentials: rows.map(viewOf), ...pages };
};

const viewOf = (row: AccountRow): CredentialView => ({
  id: row.credential_id,
  domain: row.domain,
  url: row.url,
  username: row.username || null,
  firstSeenAt: row.first_seen_at,
  lastSeenAt: row.last_seen_at,
  entryCount: row.entry_count,
  isReused: row.is_reused,
  isBreached: row.is_breached,
});
