import type { GroupEvent } from '../../src/contexts/groups/domain/events.ts';
import {
  group,
  groupClaims,
  groupStream,
  refuseUnlessOwner,
  type GroupOwner,
  type GroupState,
} from '../../src/contexts/groups/domain/group.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound, stale } from '../../src/platform/kernel/failure.ts';
import {
  areKnown,
  memberChanges,
  recalledMembers,
  unknownMembers,
  type ExternalIds,
  type MemberPorts,
} from './group-members.ts';

interface ChangeProvisionedGroup {
  readonly groupId: string;
  readonly source: GroupOwner;
  /** Omitted fields keep their value. */
  readonly name?: string | undefined;
  readonly externalId?: string | null | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  /** The complete new membership, to which `add` and `remove` then apply. */
  readonly members?: readonly string[] | undefined;
  readonly externalIds?: ExternalIds | undefined;
  /** The change is refused unless the group has this version. */
  readonly ifVersion?: number | undefined;
}

/** Everything that a source changes in its group with one request, or nothing. */
export const changeProvisionedGroup = defineCommand({
  name: 'ChangeProvisionedGroup',
  aggregate: group,
  stream: ({ groupId }: ChangeProvisionedGroup, { tenantId }) => groupStream(tenantId, groupId),
  prepare: async (
    { groupId, source, add = [], members = [], externalIds }: ChangeProvisionedGroup,
    ports: MemberPorts,
    { tenantId },
  ) => ({
    areKnown: await areKnown(ports, tenantId, { groupId, owner: source, userIds: [...members, ...add], externalIds }),
  }),
  decide(state, input, _context, facts: { areKnown: boolean }) {
    if (!state.exists) return notFound();
    const refused = refuseUnlessOwner(state, input.source);
    if (refused) return refused;
    if (input.ifVersion !== undefined && input.ifVersion !== state.version) return stale();
    if (!facts.areKnown) return unknownMembers(input.source);
    const { groupId, name = state.name, externalId = state.externalId } = input;
    const isDescribed = name !== state.name || externalId !== state.externalId;
    const described: GroupEvent[] = isDescribed
      ? [{ type: 'GroupUpdated', data: { groupId, name, description: state.description, externalId } }]
      : [];
    const { add, remove } = wantedMembers(state, input);
    const { events: moved, ...numbers } = memberChanges(state, groupId, add, remove);
    const events = [...described, ...moved];
    const result = { ...numbers, version: state.version + events.length, changed: events.length > 0 };
    return acceptWith(result, events, isDescribed ? movedClaims(state, { ...state, name, externalId }) : {});
  },
  recall: (before, events) => ({
    ...recalledMembers(before, events),
    version: before.version + events.length,
    changed: events.length > 0,
  }),
  freshens: ['groups', 'group_members', 'policy_versions'],
});

/** Without a complete membership no member is looked at but those that are named. */
function wantedMembers(state: GroupState, { members, add = [], remove = [] }: ChangeProvisionedGroup) {
  if (!members) return { add, remove };
  const wanted = new Set([...members, ...add]);
  for (const userId of remove) wanted.delete(userId);
  return { add: [...wanted], remove: [...state.members].filter((userId) => !wanted.has(userId)) };
}

function movedClaims(before: GroupState, after: GroupState) {
  const [held, wanted] = [groupClaims(before), groupClaims(after)];
  const isIn = (claims: typeof held, { kind, value }: (typeof held)[number]) =>
    claims.some((claim) => claim.kind === kind && claim.value === value);
  return {
    claim: wanted.filter((claim) => !isIn(held, claim)),
    release: held.filter((claim) => !isIn(wanted, claim)),
  };
}
