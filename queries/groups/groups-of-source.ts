import type { GroupOwner } from '../../src/contexts/groups/domain/group.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface GroupOfSource {
  readonly groupId: string;
  readonly externalId: string | null;
  readonly name: string;
  readonly members: number;
  /** A sum over the members, whatever their order: two groups with the same members have the same. */
  readonly digest: string;
}

const GROUPS = `select g.group_id as "groupId", g.external_id as "externalId", g.name, m.members, m.digest
       from groups g
      cross join lateral (
        select count(*)::int as members, coalesce(sum(hashtextextended(gm.user_id::text, 0)::numeric), 0)::text as digest
          from group_members gm where gm.tenant_id = g.tenant_id and gm.group_id = g.group_id) m`;

/** The groups that a SCIM client or a directory source owns. */
export const groupsOfSource: Query<{ readonly source: GroupOwner }, GroupOfSource[]> = (reads, { source }) =>
  reads.rows<GroupOfSource>(
    `${GROUPS} where g.tenant_id = $1 and g.source = $2 and g.source_id = $3 order by g.created_at, g.group_id`,
    [source.kind, source.id],
  );

interface FormerGroups {
  readonly sourceId: string;
  readonly externalIds: readonly string[];
}

/** Of the groups that the source has released to administrators, those with these ids; of two with one id, the older. */
export const releasedGroupsOf: Query<FormerGroups, GroupOfSource[]> = (reads, { sourceId, externalIds }) =>
  reads.rows<GroupOfSource>(
    `select distinct on ("externalId") * from (
       ${GROUPS} where g.tenant_id = $1 and g.source = 'manual' and g.former_source_id = $2 and g.external_id = any($3)
        order by g.external_id, g.created_at, g.group_id) former`,
    [sourceId, externalIds],
  );
