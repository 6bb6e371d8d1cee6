import type { RolloutStage } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { group, groupStream } from '../../src/contexts/groups/domain/group.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { invalid, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';

export const groupsIn = (stages: readonly RolloutStage[]): readonly string[] => [
  ...new Set(stages.flatMap(({ groupIds }) => groupIds)),
];

/** A failure that names the stages with a group that does not exist. */
export async function unknownGroupIn(
  stages: readonly RolloutStage[],
  aggregates: AggregateReader,
  tenantId: TenantId,
): Promise<Failure | undefined> {
  const named = groupsIn(stages);
  const states = await Promise.all(named.map((groupId) => aggregates.load(group, groupStream(tenantId, groupId))));
  const unknown = new Set(named.filter((_groupId, at) => !states[at]!.exists));
  return refuseTogether(
    ...stages.map(({ groupIds }, at) =>
      groupIds.some((groupId) => unknown.has(groupId)) ? invalid(`stages.${at}.groupIds`, 'name no group') : undefined,
    ),
  );
}
