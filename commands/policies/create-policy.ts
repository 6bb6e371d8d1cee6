import { policyNameClaim, policyStream, policy } from '../../src/contexts/policies/domain/policy.ts';
import type { PolicyContent } from '../../src/contexts/policies/domain/policy-content.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { findUnknownGroups, refuseUnknownGroups, type UnknownGroups } from './unknown-groups.ts';

/** The policy's id is that of the command. Its name is unique in the tenant (choice OP-112). */
export const createPolicy = defineCommand({
  name: 'CreatePolicy',
  aggregate: policy,
  stream: (_content: PolicyContent, { tenantId, id }) => policyStream(tenantId, id),
  names: ({ groupIds }) => groupIds,
  begins: true,
  prepare: ({ groupIds }: PolicyContent, { aggregates }: { aggregates: AggregateReader }, { tenantId }) =>
    findUnknownGroups(groupIds, aggregates, tenantId),
  decide(state, content, { id: policyId }, groups: UnknownGroups) {
    // The command was repeated: the policy exists.
    if (state.exists) return acceptWith({ policyId }, []);
    const refused = refuseUnknownGroups(groups);
    if (refused) return refused;
    return acceptWith({ policyId }, [{ type: 'PolicyCreated', data: { policyId, ...content } }], {
      claim: [policyNameClaim(content.name)],
    });
  },
  recall: (_before, _events, _content, { id: policyId }) => ({ policyId }),
  freshens: ['policies', 'policy_versions'],
});
