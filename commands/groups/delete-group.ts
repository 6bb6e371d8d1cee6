import {
  group,
  groupClaims,
  groupStream,
  refuseUnlessOwner,
  type GroupOwner,
} from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound, stale } from '../../src/platform/kernel/failure.ts';

interface DeleteGroup {
  readonly groupId: string;
  /** The source that deletes its group; null for administrators. */
  readonly by: GroupOwner | null;
  readonly ifVersion?: number | undefined;
}

/**
 * A policy attached only to the deleted group keeps that group and applies to nobody; it must not suddenly apply to
 * everyone. Administrators are refused before while records name the group (OP-438). A source that deletes its group is
 * not: the group no longer exists there.
 */
export const deleteGroup = defineCommand({
  name: 'DeleteGroup',
  aggregate: group,
  stream: ({ groupId }: DeleteGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId, by, ifVersion }) {
    if (!state.exists) return notFound();
    const refused = refuseUnlessOwner(state, by);
    if (refused) return refused;
    if (ifVersion !== undefined && ifVersion !== state.version) return stale();
    return accept([{ type: 'GroupDeleted', data: { groupId } }], { release: groupClaims(state) });
  },
  freshens: ['groups', 'group_members', 'policy_versions'],
});
