import { isDeepStrictEqual } from 'node:util';
import { group, groupNameClaim, groupStream, refuseUnlessOwner } from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand, type Claims } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface UpdateGroup {
  readonly groupId: string;
  /** Omitted fields keep their value. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/** A change by an administrator. The description is always theirs; the name is that of the group's source. */
export const updateGroup = defineCommand({
  name: 'UpdateGroup',
  aggregate: group,
  stream: ({ groupId }: UpdateGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId, name = state.name, description = state.description }) {
    if (!state.exists) return notFound();
    const refused = name === state.name ? undefined : refuseUnlessOwner(state, null);
    if (refused) return refused;
    const { externalId } = state;
    if (isDeepStrictEqual([name, description], [state.name, state.description])) return accept([]);
    const [held, wanted] = [groupNameClaim(state.name), groupNameClaim(name)];
    const renamed: Claims = held.value === wanted.value ? {} : { claim: [wanted], release: [held] };
    return accept([{ type: 'GroupUpdated', data: { groupId, name, description, externalId } }], renamed);
  },
  freshens: ['groups'],
});
