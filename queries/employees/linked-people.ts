import type { ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneByIndex } from '../by-index.ts';

/** A person whom a source has linked, as the source last described them. */
export interface LinkedPersonRow {
  readonly userId: string;
  readonly externalId: string | null;
  readonly userName: string;
  readonly email: string;
  readonly displayName: string;
  readonly department: string | null;
  readonly jobTitle: string | null;
  readonly isActive: boolean;
  readonly upn: string | null;
  readonly sid: string | null;
}

const COLUMNS = `
  user_id as "userId", external_id as "externalId", user_name as "userName", email, display_name as "displayName", department,
  job_title as "jobTitle", is_active as "isActive", upn, sid`;
const SELECT = `select ${COLUMNS} from provisioned_people where tenant_id = $1 and source_kind = $2 and source_id = $3`;

/** A source links an external id once. A page of a directory is looked up right after thousands of people were written. */
const BY_EXTERNAL_IDS = `
  select linked.* from unnest($4::text[]) as asked(id)
   cross join lateral (
     select ${COLUMNS} from provisioned_people
      where tenant_id = $1 and ${oneByIndex(['source_kind', 'source_id', 'external_id'], ['$2::text', '$3::uuid', 'asked.id'])}) linked`;

interface OfSource {
  readonly source: ProvisioningSource;
}

export const linkedByExternalId: Query<OfSource & { readonly externalIds: readonly string[] }, LinkedPersonRow[]> = (
  reads,
  { source, externalIds },
) => reads.rows<LinkedPersonRow>(BY_EXTERNAL_IDS, [source.kind, source.id, externalIds]);

export const linkedAmongUsers: Query<OfSource & { readonly userIds: readonly string[] }, LinkedPersonRow[]> = (
  reads,
  { source, userIds },
) => reads.rows<LinkedPersonRow>(`${SELECT} and user_id = any($4::uuid[])`, [source.kind, source.id, userIds]);

/** All people of a source in pages, by their ids. */
export const linkedPeopleAfter: Query<
  OfSource & { readonly after: string | undefined; readonly limit: number },
  LinkedPersonRow[]
> = (reads, { source, after, limit }) =>
  reads.rows<LinkedPersonRow>(
    `${SELECT} and ($4::uuid is null or user_id > $4) order by source_kind, source_id, user_id limit $5`,
    [source.kind, source.id, after ?? null, limit],
  );

/** How many people a source has linked: those with an external id, and those whom it calls active. */
export const countLinkedPeople: Query<OfSource, { readonly identified: number; readonly active: number }> = async (
  reads,
  { source },
) => {
  const row = await reads.one<{ identified: number; active: number }>(
    `select count(external_id)::int as identified, count(*) filter (where is_active)::int as active
       from provisioned_people where tenant_id = $1 and source_kind = $2 and source_id = $3`,
    [source.kind, source.id],
  );
  return row ?? { identified: 0, active: 0 };
};
