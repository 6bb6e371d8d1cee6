import { policy, policyContentOf, policyNameClaim, policyStream } from '../../src/contexts/policies/domain/policy.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeletePolicy {
  readonly policyId: string;
}

export const deletePolicy = defineCommand({
  name: 'DeletePolicy',
  aggregate: policy,
  stream: ({ policyId }: DeletePolicy, { tenantId }) => policyStream(tenantId, policyId),
  decide(state, { policyId }) {
    if (!state.exists) return notFound();
    return accept([{ type: 'PolicyDeleted', data: { policyId } }], { release: [policyNameClaim(state.name)] });
  },
  shown: (state) => (state.exists ? policyContentOf(state) : undefined),
  freshens: ['policies', 'policy_versions'],
});
