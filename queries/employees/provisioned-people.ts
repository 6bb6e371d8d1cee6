import type { ProvisionedPersonRow } from '../../projections/employees/provisioned-people.ts';
import { folded, type ProvisioningSource } from '../../src/contexts/employees/domain/provisioning.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneByIndex } from '../by-index.ts';

interface OfSource {
  readonly source: ProvisioningSource;
}

const OF_SOURCE = 'from provisioned_people where tenant_id = $1 and source_kind = $2 and source_id = $3';
const ONE = `select * ${OF_SOURCE}`;
const KEY = oneByIndex(['source_kind', 'source_id', 'user_id'], ['$2', '$3::uuid', '$4::uuid']);
const BY_ID = `select * from provisioned_people where tenant_id = $1 and ${KEY}`;

export const getProvisionedPerson: Query<OfSource & { userId: string }, ProvisionedPersonRow> = async (
  reads,
  { source, userId },
) => (await reads.one<ProvisionedPersonRow>(BY_ID, [source.kind, source.id, userId])) ?? notFound();

export type SearchedName = { readonly externalId: string } | { readonly userName: string } | { readonly email: string };

/** The person of a source with this external id, userName or e-mail. */
export const findProvisionedPerson: Query<OfSource & SearchedName, ProvisionedPersonRow> = async (reads, input) => {
  const { source } = input;
  const [condition, value] =
    'externalId' in input
      ? ['external_id = $4', input.externalId]
      : 'userName' in input
        ? ['user_name_folded = $4', folded(input.userName)]
        : ['email_folded = $4', folded(input.email)];
  const sql = `${ONE} and ${condition} order by created_at, user_id limit 1`;
  return (await reads.one<ProvisionedPersonRow>(sql, [source.kind, source.id, value])) ?? notFound();
};

interface PageOfSource extends OfSource {
  /** The last person of the page before. */
  readonly after?: { readonly createdAt: string; readonly userId: string } | undefined;
  readonly limit: number;
}

/** The people of a source in the order of their links. A page is a range of an index, however far down it is. */
export const listProvisionedPeople: Query<PageOfSource, readonly ProvisionedPersonRow[]> = (
  reads,
  { source, after, limit },
) =>
  after
    ? reads.rows<ProvisionedPersonRow>(
        `${ONE} and (created_at, user_id) > ($5::timestamptz, $6::uuid) order by created_at, user_id limit $4`,
        [source.kind, source.id, limit, after.createdAt, after.userId],
      )
    : reads.rows<ProvisionedPersonRow>(`${ONE} order by created_at, user_id limit $4`, [source.kind, source.id, limit]);

export const countProvisionedPeople: Query<OfSource, number> = async (reads, { source }) => {
  const row = await reads.one<{ people: number }>(`select count(*)::int as people ${OF_SOURCE}`, [
    source.kind,
    source.id,
  ]);
  return row?.people ?? 0;
};
