import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import { externalIdClaim } from '../../src/contexts/employees/domain/provisioning.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import type { GroupEvent } from '../../src/contexts/groups/domain/events.ts';
import { group, groupStream, type GroupOwner, type GroupState } from '../../src/contexts/groups/domain/group.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { WithBulkAggregates, WithClaimHolders } from '../ports.ts';

/** Streams of new members that are read together. */
const AT_ONCE = 1_000;
/** Members in one event, so that a first synchronization writes no event of megabytes. */
const IN_ONE_EVENT = 1_000;

export type MemberPorts = WithBulkAggregates & WithClaimHolders;

/** The external ids of people at the source that owns their group, by user id. */
export type ExternalIds = ReadonlyMap<string, string>;

export interface NamedMembers {
  readonly groupId: string;
  readonly owner: GroupOwner | null;
  readonly userIds: readonly string[];
  /** As far as the caller knows them. Wrong ones do no harm. */
  readonly externalIds?: ExternalIds | undefined;
}

/**
 * Whether all of these are members already or present employees; in a group of a source, employees whom that source has
 * linked. A source learns nothing about the people of another.
 */
export async function areKnown(
  { aggregates, claimHolders }: MemberPorts,
  tenantId: TenantId,
  { groupId, owner, userIds, externalIds }: NamedMembers,
): Promise<boolean> {
  if (userIds.length === 0) return true;
  const { members } = await aggregates.load(group, groupStream(tenantId, groupId));
  const others = [...new Set(userIds)].filter((userId) => !members.has(userId));
  const linked =
    owner && externalIds ? await linkedAmong(claimHolders, tenantId, owner, others, externalIds) : new Set<string>();
  const streams = others.filter((userId) => !linked.has(userId)).map((userId) => employeeStream(tenantId, userId));
  for (let at = 0; at < streams.length; at += AT_ONCE) {
    const states = await aggregates.loadAll(employee, streams.slice(at, at + AT_ONCE));
    if (states.some((state) => state.status !== 'present' || (owner && !linkWith(state, owner)))) return false;
  }
  return true;
}

/**
 * Whom the source has linked, by the claims on their external ids: an employee's stream holds the claim exactly as long
 * as the link. So nobody's events are read and decrypted.
 */
async function linkedAmong(
  claimHolders: MemberPorts['claimHolders'],
  tenantId: TenantId,
  source: GroupOwner,
  userIds: readonly string[],
  externalIds: ExternalIds,
): Promise<ReadonlySet<string>> {
  const identified = userIds.flatMap((userId) => {
    const externalId = externalIds.get(userId);
    return externalId === undefined ? [] : [{ userId, claim: externalIdClaim(source, externalId) }];
  });
  const claims = identified.map(({ claim }) => claim);
  const holders = await claimHolders(tenantId, claims);
  const linked = identified.filter(({ userId }, at) => holders[at] === employeeStream(tenantId, userId));
  return new Set(linked.map(({ userId }) => userId));
}

export const unknownMembers = (owner: GroupOwner | null): Failure =>
  invalid('members', `contains an id that is not ${owner ? 'a user of this source' : 'an employee'}`);

export interface MemberChanges {
  readonly added: number;
  readonly removed: number;
  readonly total: number;
  readonly events: readonly GroupEvent[];
}

/** Adding an existing member, or removing a non-member, has no effect. */
export function memberChanges(
  { members }: Pick<GroupState, 'members'>,
  groupId: string,
  add: readonly string[],
  remove: readonly string[],
): MemberChanges {
  const gone = new Set(remove);
  const added = [...new Set(add)].filter((userId) => !members.has(userId) && !gone.has(userId));
  const removed = [...gone].filter((userId) => members.has(userId));
  const events: GroupEvent[] = [
    ...chunks(added).map((userIds) => ({ type: 'GroupMembersAdded' as const, data: { groupId, userIds } })),
    ...chunks(removed).map((userIds) => ({ type: 'GroupMembersRemoved' as const, data: { groupId, userIds } })),
  ];
  const total = members.size + added.length - removed.length;
  return { added: added.length, removed: removed.length, total, events };
}

/** The numbers of a run that is recalled from its events. */
export function recalledMembers(before: Pick<GroupState, 'members'>, events: readonly GroupEvent[]) {
  const count = (type: GroupEvent['type']) =>
    events.reduce(
      (sum, event) => sum + (event.type === type ? (event.data as { userIds: readonly string[] }).userIds.length : 0),
      0,
    );
  const [added, removed] = [count('GroupMembersAdded'), count('GroupMembersRemoved')];
  return { added, removed, total: before.members.size + added - removed };
}

const chunks = (userIds: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(userIds.length / IN_ONE_EVENT) }, (_, at) =>
    userIds.slice(at * IN_ONE_EVENT, (at + 1) * IN_ONE_EVENT),
  );
