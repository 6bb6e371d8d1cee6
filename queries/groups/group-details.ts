import { z } from 'zod';
import type { PolicyRow } from '../../projections/policies/policies.ts';
import { notFound, type Failure } from '../../src/platform/kernel/failure.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';
import { ORDER_BY_PRECEDENCE, toPolicyView, type PolicyView } from '../policies/policy-view.ts';

export const groupMemberView = z.object({
  id: z.uuid(),
  email: z.string(),
  displayName: z.string(),
  department: z.string().nullable(),
  status: z.string(),
  addedAt: z.iso.datetime(),
});
type GroupMember = z.output<typeof groupMemberView>;

const MEMBERS = `
  select e.user_id as id, e.email, e.display_name as "displayName", e.department, e.status, m.added_at as "addedAt"
    from group_members m join employees e on e.tenant_id = m.tenant_id and e.user_id = m.user_id
   where m.tenant_id = $1 and m.group_id = $2
   order by e.display_name, e.user_id`;

const ofKnown = async <T>(reads: TenantReads, groupId: string, ask: () => Promise<T>): Promise<T | Failure> =>
  (await reads.one('select 1 as known from groups where tenant_id = $1 and group_id = $2', [groupId]))
    ? ask()
    : notFound();

/** The members of a group, ordered by name. */
export const groupMembersOf: Query<{ groupId: string }, { members: GroupMember[]; total: number }> = (
  reads,
  { groupId },
) =>
  ofKnown(reads, groupId, async () => {
    const members = await reads.rows<GroupMember>(MEMBERS, [groupId]);
    return { members, total: members.length };
  });

/** The policies attached to a group, in the order of evaluation. */
export const groupPoliciesOf: Query<{ groupId: string }, { policies: PolicyView[]; total: number }> = (
  reads,
  { groupId },
) =>
  ofKnown(reads, groupId, async () => {
    const rows = await reads.rows<PolicyRow>(
      `select * from policies where tenant_id = $1 and group_ids ? $2 ${ORDER_BY_PRECEDENCE}`,
      [groupId],
    );
    return { policies: rows.map(toPolicyView), total: rows.length };
  });
