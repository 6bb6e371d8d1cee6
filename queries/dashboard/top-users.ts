import { z } from 'zod';
import type { Query } from '../../src/platform/kernel/query.ts';
import { momentsOf, type Days } from './days.ts';

/** Choice OP-243. */
export const topUserView = z.object({ userId: z.uuid(), email: z.string(), displayName: z.string(), count: z.int() });
export type TopUser = z.output<typeof topUserView>;

/** Joins names after counting, only for the people shown. Deleted people have no rows. */
const topUsers =
  (counts: string): Query<Days & { limit: number }, { users: TopUser[] }> =>
  async (reads, { limit, ...days }) => {
    const sql = `
      select t.user_id as "userId", e.email, e.display_name as "displayName", t.count
        from (${counts}) t join employees e on e.tenant_id = $1 and e.user_id = t.user_id
       order by t.count desc, t.user_id limit $4`;
    const { from, until } = momentsOf(days);
    return { users: await reads.rows<TopUser>(sql, [from, until, limit]) };
  };

const summed = (column: 'new_sites' | 'warnings') => `
  select user_id, sum(${column})::int as count from user_quarters
   where tenant_id = $1 and quarter >= $2 and quarter < $3 and ${column} > 0 group by user_id`;

/** Ranked by visits to sites that were new to them. */
export const topUsersByNewSites = topUsers(summed('new_sites'));
/** Ranked by warnings shown to them. */
export const topUsersByWarnings = topUsers(summed('warnings'));
/** Ranked by the number of different breached passwords used in these days. */
export const topUsersByBreachedPasswords = topUsers(`
  select user_id, count(distinct password_hash)::int as count from password_uses
   where tenant_id = $1 and quarter >= $2 and quarter < $3 and breached_uses > 0 group by user_id`);
