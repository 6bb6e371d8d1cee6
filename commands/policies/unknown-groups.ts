import { group, groupStream } from '../../src/contexts/groups/domain/group.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';

/** The groups named by a policy that do not exist. */
export interface UnknownGroups {
  readonly unknownGroups: readonly string[];
}

export async function findUnknownGroups(
  groupIds: readonly string[],
  aggregates: AggregateReader,
  tenantId: TenantId,
): Promise<UnknownGroups> {
  const exists = await Promise.all(
    groupIds.map(async (groupId) => (await aggregates.load(group, groupStream(tenantId, groupId))).exists),
  );
  return { unknownGroups: groupIds.filter((_, at) => !exists[at]) };
}

/** A deleted group may stay in a policy, but adding a group that does not exist is an error. */
export function refuseUnknownGroups(
  { unknownGroups }: UnknownGroups,
  before: readonly string[] = [],
): Failure | undefined {
  return unknownGroups.some((groupId) => !before.includes(groupId)) ? invalid('groupIds', 'name no group') : undefined;
}
