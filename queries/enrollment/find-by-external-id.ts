import type { TenantReads } from '../../src/platform/kernel/query.ts';

const SQL = `
  select e.user_id
    from employees e
   where e.tenant_id = $1 and e.external_id = $2 and e.is_active
     and exists (select from provisioned_people p where p.tenant_id = e.tenant_id and p.user_id = e.user_id)
   order by e.created_at
   limit 2`;

/** The one active person whom a source maintains under this external id; undefined for none, and for several. */
export const findByExternalId = async (reads: TenantReads, externalId: string): Promise<string | undefined> => {
  const found = await reads.rows<{ user_id: string }>(SQL, [externalId]);
  return found.length === 1 ? found[0]!.user_id : undefined;
};
