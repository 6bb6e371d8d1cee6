import { isDeepStrictEqual } from 'node:util';
import { policyContentOf, policy, policyNameClaim, policyStream } from '../../src/contexts/policies/domain/policy.ts';
import type { PolicyChanges } from '../../src/contexts/policies/domain/policy-content.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand, type Claims } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { findUnknownGroups, refuseUnknownGroups, type UnknownGroups } from './unknown-groups.ts';

interface UpdatePolicy {
  readonly policyId: string;
  /** Omitted fields keep their value. */
  readonly changes: PolicyChanges;
}

/** The event contains the complete new policy, so that the policy in force at any time can be read from one event. */
export const updatePolicy = defineCommand({
  name: 'UpdatePolicy',
  aggregate: policy,
  stream: ({ policyId }: UpdatePolicy, { tenantId }) => policyStream(tenantId, policyId),
  names: ({ changes: { groupIds = [] } }) => groupIds,
  prepare: (
    { changes: { groupIds = [] } }: UpdatePolicy,
    { aggregates }: { aggregates: AggregateReader },
    { tenantId },
  ) => findUnknownGroups(groupIds, aggregates, tenantId),
  decide(state, { policyId, changes }, _context, groups: UnknownGroups) {
    if (!state.exists) return notFound();
    const before = policyContentOf(state);
    const refused = refuseUnknownGroups(groups, before.groupIds);
    if (refused) return refused;
    const changed = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<
      typeof before
    >;
    const content = { ...before, ...changed };
    if (isDeepStrictEqual(content, before)) return accept([]);
    const [held, wanted] = [policyNameClaim(before.name), policyNameClaim(content.name)];
    const renamed: Claims = held.value === wanted.value ? {} : { claim: [wanted], release: [held] };
    return accept([{ type: 'PolicyUpdated', data: { policyId, ...content } }], renamed);
  },
  shown: (state) => (state.exists ? policyContentOf(state) : undefined),
  freshens: ['policies', 'policy_versions'],
});
