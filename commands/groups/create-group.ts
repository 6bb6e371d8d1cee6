import type { GroupSource } from '../../src/contexts/groups/domain/events.ts';
import { group, groupNameClaim, groupStream } from '../../src/contexts/groups/domain/group.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface CreateGroup {
  readonly name: string;
  readonly description: string;
  readonly source: GroupSource;
  /** The group's id at its source. */
  readonly externalId: string | null;
}

/** The group's id is that of the command. Its name is unique in the tenant (choice OP-227). */
export const createGroup = defineCommand({
  name: 'CreateGroup',
  aggregate: group,
  stream: (_input: CreateGroup, { tenantId, id }) => groupStream(tenantId, id),
  decide(state, input, { id: groupId }) {
    if (state.exists) return acceptWith({ groupId }, []);
    return acceptWith({ groupId }, [{ type: 'GroupCreated', data: { groupId, ...input } }], {
      claim: [groupNameClaim(input.name)],
    });
  },
  freshens: ['groups'],
});
