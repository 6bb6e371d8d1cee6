import type { GroupRow } from '../../projections/groups/groups.ts';
import { groupType } from '../../src/contexts/scim/domain/group-schema.ts';
import { isUuid } from '../../src/platform/kernel/ids.ts';
import { invalid, notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneByIndex } from '../by-index.ts';
import { rowsByKey, scimPage, type ScimListRequest, type ScimPage } from './list-page.ts';
import { columnsOfType, versionColumn, type ScimTable } from './scim-table.ts';

/** A client sees its own users, and of them what it said itself. `$2` is the client. */
const OWN_MEMBERS = `
  from group_members m
  join provisioned_people p on p.tenant_id = m.tenant_id and p.user_id = m.user_id
   and p.source_kind = 'scim' and p.source_id = $2::uuid`;

const MEMBERS = `(
  select jsonb_build_object('value', m.user_id::text, 'type', 'User', 'display', p.display_name) as v ${OWN_MEMBERS}
   where m.tenant_id = $1 and m.group_id = g.group_id)`;

const groupTable: ScimTable = {
  type: groupType,
  columns: {
    id: { sql: 'g.group_id', isUuid: true },
    externalId: { sql: 'g.external_id' },
    displayName: { sql: 'g.name' },
    ...columnsOfType(groupType),
    'meta.created': { sql: 'g.created_at' },
    'meta.lastModified': { sql: 'greatest(g.updated_at, g.members_changed_at)' },
    'meta.version': versionColumn('g.version'),
  },
  lists: { members: MEMBERS, schemas: `(select to_jsonb('${groupType.schema.id}'::text) as v)` },
  indexed: {
    members: (value, parameter) =>
      `exists (select ${OWN_MEMBERS} where m.tenant_id = $1 and m.group_id = g.group_id and m.user_id = ${parameter(isUuid(value) ? value : null)}::uuid)`,
  },
  naming: {
    id: (value, parameter) => `select ${parameter(isUuid(value) ? value : null)}::uuid`,
    externalId: (value, parameter) =>
      `select g.group_id from groups g
        where g.tenant_id = $1 and ${oneByIndex(['g.source_id', 'g.external_id'], ['$2::uuid', `${parameter(value)}::text`])}`,
  },
  byId: (id) => `select g.* from groups g where g.tenant_id = $1 and ${oneByIndex(['g.group_id'], [id])}`,
};

interface OfClient {
  readonly clientId: string;
}

const OWN = `g.tenant_id = $1 and g.source = 'scim' and g.source_id = $2::uuid`;

export const listScimGroups: Query<OfClient & ScimListRequest, ScimPage<GroupRow>> = (
  reads,
  { clientId, ...request },
) =>
  scimPage<GroupRow>(
    reads,
    {
      table: groupTable,
      from: 'groups g',
      own: OWN,
      alias: 'g',
      created: 'g.created_at',
      id: 'g.group_id',
      parameters: [clientId],
    },
    request,
  );

export const getScimGroup: Query<OfClient & { groupId: string }, GroupRow> = async (reads, { clientId, groupId }) =>
  (await reads.one<GroupRow>(`select g.* from groups g where ${OWN} and g.group_id = $3`, [clientId, groupId])) ??
  notFound();

export interface MemberOfGroup {
  readonly group_id: string;
  readonly user_id: string;
  readonly display_name: string;
}

const MEMBERS_OF = `
  select m.group_id, m.user_id, p.display_name ${OWN_MEMBERS}
   where m.tenant_id = $1 and m.group_id = any($3::uuid[]) order by m.added_at, m.user_id limit $4`;

/** Members in one response. Groups have any number of members, and a page has up to a thousand groups. */
export const MAX_MEMBERS_SHOWN = 100_000;

/** The members of these groups, in the order in which they came. Refuses more than `MAX_MEMBERS_SHOWN` (RFC 7644 §3.12). */
export const membersOfScimGroups: Query<
  OfClient & { groupIds: readonly string[] },
  ReadonlyMap<string, readonly MemberOfGroup[]>
> = async (reads, { clientId, groupIds }) => {
  const rows =
    groupIds.length === 0
      ? []
      : await reads.rows<MemberOfGroup>(MEMBERS_OF, [clientId, groupIds, MAX_MEMBERS_SHOWN + 1]);
  if (rows.length > MAX_MEMBERS_SHOWN)
    return invalid(
      'members',
      `are more than ${MAX_MEMBERS_SHOWN}: ask for fewer groups, or exclude them`,
      'scim_too_many',
    );
  return rowsByKey(rows, ({ group_id: groupId }) => groupId);
};
