import { group, groupStream } from '../../src/contexts/groups/domain/group.ts';
import { MAX_GROUPS } from '../../src/contexts/policies/domain/policy-content.ts';
import { policyContentOf, policy, policyStream } from '../../src/contexts/policies/domain/policy.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface AttachPolicy {
  readonly policyId: string;
  readonly groupId: string;
  readonly isAttached: boolean;
}

/**
 * Attaches a policy to a group, or detaches it. A policy applies to the members of its groups, or to everyone if it has
 * none (choice OP-113).
 */
export const attachPolicy = defineCommand({
  name: 'AttachPolicy',
  aggregate: policy,
  stream: ({ policyId }: AttachPolicy, { tenantId }) => policyStream(tenantId, policyId),
  names: ({ groupId, isAttached }) => (isAttached ? [groupId] : []),
  async prepare({ groupId }: AttachPolicy, { aggregates }: { aggregates: AggregateReader }, { tenantId }) {
    return { groupExists: (await aggregates.load(group, groupStream(tenantId, groupId))).exists };
  },
  decide(state, { policyId, groupId, isAttached }, _context, { groupExists }: { groupExists: boolean }) {
    if (!groupExists) return notFound();
    if (!state.exists) return isAttached ? invalid('policyIds', 'contains an id that is not a policy') : notFound();
    const isNow = state.groupIds.includes(groupId);
    if (isNow === isAttached) return isAttached ? acceptWith({ changed: false }, []) : notFound();
    if (isAttached && state.groupIds.length >= MAX_GROUPS)
      return conflict('limit_reached', `the policy is already attached to the maximum of ${MAX_GROUPS} groups`);
    const groupIds = isAttached ? [...state.groupIds, groupId] : state.groupIds.filter((id) => id !== groupId);
    return acceptWith({ changed: true }, [
      { type: 'PolicyUpdated', data: { policyId, ...policyContentOf(state), groupIds } },
    ]);
  },
  recall: () => ({ changed: true }),
  freshens: ['policies', 'policy_versions'],
});
