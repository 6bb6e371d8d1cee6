import { z } from 'zod';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';
import { employeeExists } from './employee-credentials.ts';

/** One password on more than one site (choice OP-066). */
export const reuseRecordView = z
  .object({
    id: z.uuid(),
    domains: z.array(z.string()),
    domainCount: z.int(),
    usernames: z.array(z.string()),
    firstDetectedAt: z.iso.datetime(),
    lastDetectedAt: z.iso.datetime(),
  })
  .meta({ title: 'ReuseRecord' });
export type ReuseRecordView = z.output<typeof reuseRecordView>;

interface ReuseRow {
  reuse_id: string;
  domains: string[];
  usernames: string[];
  first_detected_at: string;
  last_detected_at: string;
}

/** A reuse begins with the first use on a second site. Uses on only one site are not a reuse. */
const REUSES = `
  with sites as (
    select reuse_id, site, min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at
      from credential_uses where tenant_id = $1 and user_id = $2 group by reuse_id, site),
  reuses as (
    select reuse_id, array_agg(site order by site collate "C") as domains,
           (array_agg(first_seen_at order by first_seen_at))[2] as first_detected_at, max(last_seen_at) as last_detected_at
      from sites group by reuse_id having count(*) > 1)`;
const pageOf = (where: string, tail: string) => `${REUSES}
  select r.*,
         array(select distinct u.username from credential_uses u
                where u.tenant_id = $1 and u.user_id = $2 and u.reuse_id = r.reuse_id and u.username <> '' order by 1) as usernames
    from reuses r where true ${where} ${tail}`;
const TOTAL = `${REUSES} select count(*)::int as total from reuses`;

export const reuseOrder: KeysetOrder<ReuseRow> = {
  list: 'reuse-records',
  columns: [descending('r.last_detected_at', 'timestamptz'), ascending('r.reuse_id', 'uuid')],
  valuesOf: ({ last_detected_at, reuse_id }) => [last_detected_at, reuse_id],
};

export const employeeReuseRecords: Query<
  { userId: string } & Page,
  { reuseRecords: ReuseRecordView[] } & KeysetPaginated
> = async (reads, { userId, ...page }) => {
  if (!(await reads.one(employeeExists, [userId]))) return notFound();
  const { rows, ...pages } = await listPage(
    reads,
    { order: reuseOrder, count: TOTAL, page: ({ where, tail }) => pageOf(where, tail) },
    [userId],
    page,
  );
  return { reuseRecords: rows.map(viewOf), ...pages };
};

const viewOf = ({ reuse_id, domains, usernames, first_detected_at, last_detected_at }: ReuseRow): ReuseRecordView => ({
  id: reuse_id,
  domains,
  domainCount: domains.length,
  usernames,
  firstDetectedAt: first_detected_at,
  lastDetectedAt: last_detected_at,
});
