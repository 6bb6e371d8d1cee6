import { z } from 'zod';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { Days } from './days.ts';

/** Choice OP-243. */
export const topUserView = z.object({ userId: z.uuid(), email: z.string(), displayName: z.string(), count: z.int() });
export type TopUser = z.output<typeof topUserView>;

/** Joins names after counting, only for the people shown. Deleted people have no rows. */
const topUsers =
  (counts: string): Query<Days & { limit: number }, { users: TopUser[] }> =>
  async (reads, { from, to, limit }) => {
    const sql = `
      select t.user_id as "userId", e.email, e.display_name as "displayName", t.count
        from (${counts}) t join employees e on e.tenant_id = $1 and e.user_id = t.user_id
       order by t.count desc, t.user_id limit $4`;
    return { users: await reads.rows<TopUser>(sql, [from, to, limit]) };
  };

const summed = (column: 'new_sites' | 'warnings') => `
  select user_id, sum(${column})::int as count from user_daily
   where tenant_id = $1 and day between $2::date and $3::date and ${column} > 0 group by user_id`;

/** Ranked by visits to sites that were new to them. */
export const topUsersByNewSites = topUsers(summed('new_sites'));
/** Ranked by warnings shown to them. */
export const topUsersByWarnings = topUsers(summed('warnings'));
/** Ranked by the number of different breached passwords used in these days. */
export const topUsersByBreachedPasswords = topUsers(`
  select user_id, count(distinct password_hash)::int as count from credential_uses
   where tenant_id = $1 and is_breached and last_seen_at >= $2::date and first_seen_at < $3::date + 1 group by user_id`);
