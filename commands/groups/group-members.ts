import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { linkWith } from '../../src/contexts/employees/domain/provisioned-changes.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import type { GroupEvent } from '../../src/contexts/groups/domain/events.ts';
import { group, groupStream, type GroupOwner, type GroupState } from '../../src/contexts/groups/domain/group.ts';
import type { BulkAggregateReader } from '../../src/platform/kernel/aggregate.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';

/** Streams of new members that are read together. */
const AT_ONCE = 1_000;
/** Members in one event, so that a first synchronization writes no event of megabytes. */
const IN_ONE_EVENT = 1_000;

/**
 * Whether all of these are members already or present employees; in a group of a source, employees whom that source has
 * linked. A source learns nothing about the people of another.
 */
export async function areKnown(
  aggregates: BulkAggregateReader,
  tenantId: TenantId,
  groupId: string,
  userIds: readonly string[],
  owner: GroupOwner | null,
): Promise<boolean> {
  if (userIds.length === 0) return true;
  const { members } = await aggregates.load(group, groupStream(tenantId, groupId));
  const streams = [...new Set(userIds)]
    .filter((userId) => !members.has(userId))
    .map((userId) => employeeStream(tenantId, userId));
  for (let at = 0; at < streams.length; at += AT_ONCE) {
    const states = await aggregates.loadAll(employee, streams.slice(at, at + AT_ONCE));
    if (states.some((state) => state.status !== 'present' || (owner && !linkWith(state, owner)))) return false;
  }
  return true;
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
