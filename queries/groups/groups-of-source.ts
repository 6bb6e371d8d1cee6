import type { GroupOwner } from '../../src/contexts/groups/domain/group.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface GroupOfSource {
  readonly groupId: string;
  readonly externalId: string | null;
  readonly name: string;
}

/** The groups that a SCIM client or a directory source owns. */
export const groupsOfSource: Query<{ readonly source: GroupOwner }, GroupOfSource[]> = (reads, { source }) =>
  reads.rows<GroupOfSource>(
    `select group_id as "groupId", external_id as "externalId", name from groups
      where tenant_id = $1 and source = $2 and source_id = $3 order by created_at, group_id`,
    [source.kind, source.id],
  );
