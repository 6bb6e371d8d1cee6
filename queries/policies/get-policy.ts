import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { policies, type PolicyRow } from '../../projections/policies/policies.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toPolicyView, type PolicyView } from './policy-view.ts';

export const getPolicy: Query<{ policyId: string }, PolicyView> = async (reads, { policyId }) => {
  const row = await reads.one<PolicyRow>('select * from policies where tenant_id = $1 and policy_id = $2', [policyId]);
  return row ? toPolicyView(row) : notFound();
};

/** A policy from the events that created it. */
export const viewOfNewPolicy =
  (policyId: string) =>
  (events: readonly RecordedEvent[]): PolicyView | undefined => {
    const row = newRow(policies, { policy_id: policyId }, events);
    return row && toPolicyView(row);
  };
