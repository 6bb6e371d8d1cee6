import { isDeepStrictEqual } from 'node:util';
import { group, groupNameClaim, groupStream } from '../../src/contexts/groups/domain/group.ts';
import { accept, defineCommand, type Claims } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface UpdateGroup {
  readonly groupId: string;
  /** Omitted fields keep their value. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly externalId?: string | null | undefined;
}

export const updateGroup = defineCommand({
  name: 'UpdateGroup',
  aggregate: group,
  stream: ({ groupId }: UpdateGroup, { tenantId }) => groupStream(tenantId, groupId),
  decide(state, { groupId, name = state.name, description = state.description, externalId = state.externalId }) {
    if (!state.exists) return notFound();
    const before = { name: state.name, description: state.description, externalId: state.externalId };
    const content = { name, description, externalId };
    if (isDeepStrictEqual(content, before)) return accept([]);
    const [held, wanted] = [groupNameClaim(before.name), groupNameClaim(name)];
    const renamed: Claims = held.value === wanted.value ? {} : { claim: [wanted], release: [held] };
    return accept([{ type: 'GroupUpdated', data: { groupId, ...content } }], renamed);
  },
  freshens: ['groups'],
});
