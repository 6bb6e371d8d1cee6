import type { TenantReads } from '../../src/platform/kernel/query.ts';

interface SyncedUser {
  /** The employee with the given e-mail, if any. */
  readonly candidateId: string | null;
  readonly externalId: string | null;
}

const SQL = `
  select user_id
    from employees
   where tenant_id = $1 and source in ('scim', 'directory') and is_active and (user_id = $2 or external_id = $3)
   order by user_id = $2 desc nulls last, created_at
   limit 1`;

/** Finds an active user that comes from a directory or identity provider; otherwise undefined. */
export const findSyncedUser = async (
  reads: TenantReads,
  { candidateId, externalId }: SyncedUser,
): Promise<string | undefined> => (await reads.one<{ user_id: string }>(SQL, [candidateId, externalId]))?.user_id;
