import { group, groupNameClaim, groupStream } from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteGroup {
  readonly groupId: string;
}

/**
 * A policy attached only to the deleted group keeps that group and applies to nobody; it must not suddenly apply to everyone.
 */
export const deleteGroup = defineCommand({
  name: 'DeleteGroup',
  aggregate: group,
  stream: ({ groupId }: DeleteGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId }) {
    if (!state.exists) return notFound();
    return accept([{ type: 'GroupDeleted', data: { groupId } }], { release: [groupNameClaim(state.name)] });
  },
  freshens: ['groups', 'group_members', 'policy_versions'],
});
