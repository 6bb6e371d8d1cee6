import { group, groupExternalIdClaim, groupStream, type GroupOwner } from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface ReclaimGroup {
  readonly groupId: string;
  readonly owner: GroupOwner;
}

/**
 * Gives a group back to the source that released it, so that whoever is selected again, or returns to the directory, keeps
 * the policies that are attached to the group. Only the former owner may: a name alone proves nothing.
 */
export const reclaimGroup = defineCommand({
  name: 'ReclaimGroup',
  aggregate: group,
  stream: ({ groupId }: ReclaimGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId, owner }) {
    if (!state.exists) return notFound();
    const { formerOwner, externalId } = state;
    if (externalId === null || formerOwner?.kind !== owner.kind || formerOwner.id !== owner.id)
      return conflict('group_managed');
    return accept([{ type: 'GroupReclaimed', data: { groupId, source: owner.kind, sourceId: owner.id } }], {
      claim: [groupExternalIdClaim(owner, externalId)],
    });
  },
  freshens: ['groups'],
});
