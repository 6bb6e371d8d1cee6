import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { z } from 'zod';
import { groups, type GroupRow } from '../../projections/groups/groups.ts';
import { groupSources } from '../../src/contexts/groups/domain/events.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** A group as the interface shows it (choice OP-227). */
export const groupView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    source: z.enum(groupSources),
    externalId: z.string().nullable(),
    memberCount: z.int(),
    policyCount: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Group' });
export type GroupView = z.output<typeof groupView>;

type Counted = GroupRow & { readonly members: number; readonly policies: number };

const SELECT = `
  select g.*,
         (select count(*)::int from group_members m where m.tenant_id = g.tenant_id and m.group_id = g.group_id) as members,
         (select count(*)::int from policies p where p.tenant_id = g.tenant_id and p.group_ids ? g.group_id::text) as policies
    from groups g`;
const IN_ORDER = 'order by g.created_at desc, g.group_id';

const toGroupView = (row: Counted): GroupView => ({
  id: row.group_id,
  name: row.name,
  description: row.description,
  source: row.source,
  externalId: row.external_id,
  memberCount: row.members,
  policyCount: row.policies,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export const listGroups: Query<undefined, { groups: GroupView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<Counted>(`${SELECT} where g.tenant_id = $1 ${IN_ORDER}`);
  return { groups: rows.map(toGroupView), total: rows.length };
};

export const getGroup: Query<{ groupId: string }, GroupView> = async (reads, { groupId }) => {
  const row = await reads.one<Counted>(`${SELECT} where g.tenant_id = $1 and g.group_id = $2`, [groupId]);
  return row ? toGroupView(row) : notFound();
};

/** A group from the events that created it. */
export const viewOfNewGroup =
  (groupId: string) =>
  (events: readonly RecordedEvent[]): GroupView | undefined => {
    const row = newRow(groups, { group_id: groupId }, events);
    return row && toGroupView({ ...row, members: 0, policies: 0 });
  };

/** The groups of an employee (choice OP-068). */
export const groupsOfUser: Query<{ userId: string }, { groups: GroupView[]; total: number }> = async (
  reads,
  { userId },
) => {
  const known = await reads.one('select 1 as known from employees where tenant_id = $1 and user_id = $2', [userId]);
  if (!known) return notFound();
  const isIn =
    'exists (select from group_members m where m.tenant_id = g.tenant_id and m.group_id = g.group_id and m.user_id = $2)';
  const rows = await reads.rows<Counted>(`${SELECT} where g.tenant_id = $1 and ${isIn} ${IN_ORDER}`, [userId]);
  return { groups: rows.map(toGroupView), total: rows.length };
};
