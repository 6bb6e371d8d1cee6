import { policyNameClaim, policyStream, policy } from '../../src/domain/policies/policy.ts';
import type { PolicyContent } from '../../src/domain/policies/policy-content.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';

/** The policy's id is the command's. Its name is one policy's alone in the tenant (choice OP-112). */
export const createPolicy = defineCommand({
  name: 'CreatePolicy',
  aggregate: policy,
  stream: (_content: PolicyContent, { tenantId, id }) => policyStream(tenantId, id),
  decide(state, content, { id: policyId }) {
    // The same command once more: its policy is there.
    if (state.exists) return acceptWith({ policyId }, []);
    return acceptWith({ policyId }, [{ type: 'PolicyCreated', data: { policyId, ...content } }], { take: [policyNameClaim(content.name)] });
  },
  freshens: ['policies', 'policy_versions'],
});
