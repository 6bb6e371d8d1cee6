import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { namesPolicy, type policyActions } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { policy, policyStream } from '../../src/contexts/policies/domain/policy.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, notFound } from '../../src/platform/kernel/failure.ts';

interface RecordAlertPolicyAction {
  readonly alertId: string;
  readonly action: (typeof policyActions)[number];
  readonly policyId: string | null;
  readonly policyName: string | null;
}

/**
 * Records what was done with policies after a true positive (OP-078); only for alerts resolved as such. `created` and
 * `added_to_existing` name a policy of this tenant. A second record replaces the first.
 */
export const recordAlertPolicyAction = defineCommand({
  name: 'RecordAlertPolicyAction',
  aggregate: alert,
  stream: ({ alertId }: RecordAlertPolicyAction, { tenantId }) => alertStream(tenantId, alertId),
  prepare: async (
    { policyId }: RecordAlertPolicyAction,
    { aggregates }: { aggregates: AggregateReader },
    { tenantId },
  ) => {
    const known = policyId === null ? undefined : await aggregates.load(policy, policyStream(tenantId, policyId));
    return { exists: known?.exists ?? false, name: known?.name ?? null };
  },
  decide(state, { alertId, action, policyId, policyName }, _context, { exists, name }) {
    if (state.status === 'none') return notFound();
    if (state.status !== 'resolved') return conflict('alert_not_resolved');
    if (namesPolicy(action) && policyId === null) return invalid('policyId', 'is required for this action');
    if (policyId !== null && !exists) return invalid('policyId', 'is not the id of a policy');
    return accept([
      { type: 'AlertPolicyActionRecorded', data: { alertId, action, policyId, policyName: policyName ?? name } },
    ]);
  },
  freshens: ['alerts'],
});
