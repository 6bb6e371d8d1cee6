import {
  group,
  groupClaims,
  groupNameClaim,
  groupStream,
  refuseUnlessOwner,
  type GroupOwner,
} from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ReleaseGroup {
  readonly groupId: string;
  readonly by: GroupOwner;
}

/** Hands a group over to administrators, because its source is removed. Members and policies stay. */
export const releaseGroup = defineCommand({
  name: 'ReleaseGroup',
  aggregate: group,
  stream: ({ groupId }: ReleaseGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId, by }) {
    if (!state.exists) return notFound();
    const refused = refuseUnlessOwner(state, by);
    if (refused) return refused;
    const name = groupNameClaim(state.name);
    return accept([{ type: 'GroupReleased', data: { groupId } }], {
      release: groupClaims(state).filter(({ kind }) => kind !== name.kind),
    });
  },
  freshens: ['groups'],
});
