import { z } from 'zod';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-067. */
export const tenantCredentialStatsView = z.object({
  totalUsers: z.int(),
  usersWithCredentials: z.int(),
  totalCredentials: z.int(),
  totalSites: z.int(),
  reusedCredentials: z.int(),
  breachedCredentials: z.int(),
  usersWithReuse: z.int(),
  usersWithBreached: z.int(),
});
export type TenantCredentialStats = z.output<typeof tenantCredentialStatsView>;

/**
 * Sums over existing employees; a browser may briefly outlive its employee. A site counts if at least one credential
 * exists there, which an index lookup decides.
 */
const SQL = `
  select (select count(*) from employees where tenant_id = $1)::int as "totalUsers",
         count(*)::int as "usersWithCredentials",
         coalesce(sum(total_credentials), 0)::int as "totalCredentials",
         (select count(*) from sites s
           where s.tenant_id = $1 and s.has_credentials and (select true from credential_uses u where u.tenant_id = $1 and u.site = s.site limit 1))::int as "totalSites",
         coalesce(sum(reused_count), 0)::int as "reusedCredentials",
         coalesce(sum(breached_count), 0)::int as "breachedCredentials",
         count(*) filter (where reused_count > 0)::int as "usersWithReuse",
         count(*) filter (where breached_count > 0)::int as "usersWithBreached"
    from credential_stats c
   where c.tenant_id = $1 and exists (select from employees e where e.tenant_id = $1 and e.user_id = c.user_id)`;

export const tenantCredentialStats: Query<void, TenantCredentialStats> = async (reads) =>
  (await reads.figures<TenantCredentialStats>(SQL))!;
