import type { TenantReads } from '../../src/platform/kernel/query.ts';

interface SyncedUser {
  /** Who has the e-mail that was named, if anybody. */
  readonly candidateId: string | null;
  readonly externalId: string | null;
}

const SQL = `
  select user_id
    from employees
   where tenant_id = $1 and source in ('scim', 'directory') and is_active and (user_id = $2 or external_id = $3)
   order by user_id = $2 desc nulls last, created_at
   limit 1`;

/** An active user whom a directory or an identity provider keeps; undefined for everybody else. */
export const findSyncedUser = async (
  reads: TenantReads,
  { candidateId, externalId }: SyncedUser,
): Promise<string | undefined> => (await reads.one<{ user_id: string }>(SQL, [candidateId, externalId]))?.user_id;
