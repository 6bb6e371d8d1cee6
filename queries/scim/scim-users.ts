import type { ProvisionedPersonRow } from '../../projections/employees/provisioned-people.ts';
import { folded } from '../../src/contexts/employees/domain/provisioning.ts';
import type { GroupOfUser } from '../../src/contexts/scim/domain/user-resource.ts';
import { ENTERPRISE_USER, USER, userType } from '../../src/contexts/scim/domain/user-schema.ts';
import { isUuid } from '../../src/platform/kernel/ids.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneByIndex } from '../by-index.ts';
import { rowsByKey, scimPage, type ScimListRequest, type ScimPage } from './list-page.ts';
import { columnsOfType, versionColumn, type ScimTable } from './scim-table.ts';

/** The groups of a person that the same client provisioned. `$2` is the client. */
const GROUPS = `(
  select jsonb_build_object('value', g.group_id::text, 'display', g.name, 'type', 'direct') as v
    from group_members m join groups g on g.tenant_id = m.tenant_id and g.group_id = m.group_id
   where m.tenant_id = $1 and m.user_id = p.user_id and g.source = 'scim' and g.source_id = $2::uuid)`;

/** As `userResource` names them. */
const SCHEMAS = `(
  select to_jsonb(s.urn) as v
    from (values ('${USER}', true), ('${ENTERPRISE_USER}', p.profile -> '${ENTERPRISE_USER}' is not null)) as s(urn, has)
   where s.has)`;

/** The person of the client with this value, which nobody else of the client has. `$2` is the client. */
const select = (columns: string, column: string, value: string): string =>
  `select ${columns} from provisioned_people p
    where p.tenant_id = $1 and ${oneByIndex(['p.source_kind', 'p.source_id', column], ["'scim'", '$2::uuid', value])}`;

const users: ScimTable = {
  type: userType,
  columns: {
    id: { sql: 'p.user_id', isUuid: true },
    externalId: { sql: 'p.external_id' },
    userName: { sql: 'p.user_name_folded', isFolded: true },
    active: { sql: 'p.is_active' },
    ...columnsOfType(userType),
    'meta.created': { sql: 'p.created_at' },
    'meta.lastModified': { sql: 'p.modified_at' },
    'meta.version': versionColumn('p.version'),
  },
  profile: 'p.profile',
  lists: { groups: GROUPS, schemas: SCHEMAS },
  naming: {
    id: (value, parameter) => `select ${parameter(isUuid(value) ? value : null)}::uuid`,
    externalId: (value, parameter) => select('p.user_id', 'p.external_id', `${parameter(value)}::text`),
    userName: (value, parameter) => select('p.user_id', 'p.user_name_folded', `${parameter(folded(value))}::text`),
    emails: (value, parameter) => `select provisioned_people_at($2::uuid, ${parameter(folded(value))}::text)`,
  },
  byId: (id) => select('p.*', 'p.user_id', id),
};

interface OfClient {
  readonly clientId: string;
}

export const listScimUsers: Query<OfClient & ScimListRequest, ScimPage<ProvisionedPersonRow>> = (
  reads,
  { clientId, ...request },
) =>
  scimPage<ProvisionedPersonRow>(
    reads,
    {
      table: users,
      from: 'provisioned_people p',
      own: `p.tenant_id = $1 and p.source_kind = 'scim' and p.source_id = $2::uuid`,
      alias: 'p',
      created: 'p.created_at',
      id: 'p.user_id',
      parameters: [clientId],
    },
    request,
  );

/** From the people to their memberships to the groups, each by an index, which the order says to the planner. */
const GROUPS_OF = `
  with memberships as materialized (
    select m.user_id, m.group_id from unnest($3::uuid[]) as asked(id)
     cross join lateral (select m.user_id, m.group_id from group_members m
       where m.tenant_id = $1 and m.user_id >= asked.id and m.user_id <= asked.id order by m.user_id offset 0) m)
  select m.user_id, g.group_id as id, g.name
    from memberships m
   cross join lateral (select g.* from groups g where g.tenant_id = $1 and ${oneByIndex(['g.group_id'], ['m.group_id'])}) g
   where g.source = 'scim' and g.source_id = $2::uuid
   order by g.created_at, g.group_id`;

/** The groups of these people that the client provisioned. */
export const groupsOfScimUsers: Query<
  OfClient & { userIds: readonly string[] },
  ReadonlyMap<string, readonly GroupOfUser[]>
> = async (reads, { clientId, userIds }) => {
  const rows =
    userIds.length === 0 ? [] : await reads.rows<GroupOfUser & { user_id: string }>(GROUPS_OF, [clientId, userIds]);
  return rowsByKey(rows, ({ user_id: userId }) => userId);
};
