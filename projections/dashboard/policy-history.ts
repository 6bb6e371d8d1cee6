import { policyEvents } from '../../src/contexts/policies/domain/events.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { dayOf, defineReadModel, id, integer, json, type Row } from '../../src/platform/kernel/read-model.ts';
import { extensionConfigFamilies, extensionConfigEventTypes } from '../../src/contexts/extension-config-sources.ts';

/** The number of changes at the end of the day: the number in `policyVersion`, as in `policy_versions`. */
type DayEnd = readonly [day: string, changes: number];
type PolicyChange = readonly [policyId: string, changes: number];

const columns = { id, changes: integer, days: json<readonly DayEnd[]>(), policies: json<readonly PolicyChange[]>() };
export type PolicyHistoryRow = Row<{ columns: typeof columns }>;

const MAX_DAYS = 100;
const MAX_POLICIES = 2_000;

/**
 * The policy version at the end of each day, and the version with which each policy last changed. One row per tenant.
 */
export const policyHistory = defineReadModel({
  name: 'policy_history',
  version: 4,
  lane: 'main',
  columns,
  key: ['id'],
  families: extensionConfigFamilies,
  on: Object.fromEntries(extensionConfigEventTypes.map((type) => [type, changed])),
});

function changed(event: RecordedEvent) {
  return {
    key: { id: event.tenantId },
    fold: (row: PolicyHistoryRow | undefined): PolicyHistoryRow => {
      const changes = (row?.changes ?? 0) + 1;
      const today = dayOf(event.recordedAt);
      const earlierDays = (row?.days ?? []).filter(([day]) => day !== today);
      return {
        id: event.tenantId,
        changes,
        days: [...earlierDays, [today, changes] as const].slice(-MAX_DAYS),
        policies: policiesAfter(row?.policies ?? [], event, changes),
      };
    },
  };
}

function policiesAfter(
  policies: readonly PolicyChange[],
  { type, data }: RecordedEvent,
  changes: number,
): readonly PolicyChange[] {
  if (!(type in policyEvents.definitions)) return policies;
  const { policyId } = data as { policyId: string };
  const others = policies.filter(([id]) => id !== policyId);
  return type === 'PolicyDeleted' ? others : [...others, [policyId, changes] as const].slice(-MAX_POLICIES);
}
