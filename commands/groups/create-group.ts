import {
  group,
  groupExternalIdClaim,
  groupNameClaim,
  groupStream,
  type GroupOwner,
} from '../../src/contexts/groups/domain/group.ts';
import type { GroupEvent } from '../../src/contexts/groups/domain/events.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { areKnown, memberChanges, unknownMembers, type ExternalIds, type MemberPorts } from './group-members.ts';

interface CreateGroup {
  readonly name: string;
  readonly description: string;
  /** The source that owns the group; null for administrators. */
  readonly owner: GroupOwner | null;
  /** The group's id at its source. */
  readonly externalId: string | null;
  readonly userIds?: readonly string[] | undefined;
  readonly externalIds?: ExternalIds | undefined;
}

/** The group's id is that of the command. Its name is unique in the tenant (choice OP-227). */
export const createGroup = defineCommand({
  name: 'CreateGroup',
  aggregate: group,
  stream: (_input: CreateGroup, { tenantId, id }) => groupStream(tenantId, id),
  begins: true,
  prepare: async ({ userIds = [], externalIds, owner }: CreateGroup, ports: MemberPorts, { tenantId, id }) => ({
    areKnown: await areKnown(ports, tenantId, { groupId: id, owner, userIds, externalIds }),
  }),
  decide(state, input, { id: groupId }, facts: { areKnown: boolean }) {
    if (state.exists) return acceptWith({ groupId, version: state.version }, []);
    if (!facts.areKnown) return unknownMembers(input.owner);
    const { owner, name, description, externalId, userIds = [] } = input;
    const { kind: source = 'manual' as const, id: sourceId = null } = owner ?? {};
    const identified = owner && externalId !== null ? [groupExternalIdClaim(owner, externalId)] : [];
    const data = { groupId, name, description, source, sourceId, externalId };
    const members = memberChanges(state, groupId, userIds, []).events;
    const events: GroupEvent[] = [{ type: 'GroupCreated', data }, ...members];
    return acceptWith({ groupId, version: events.length }, events, {
      claim: [groupNameClaim(name), ...identified],
    });
  },
  recall: (_before, events, _input, { id: groupId }) => ({ groupId, version: events.length }),
  freshens: ['groups', 'group_members', 'policy_versions'],
});
