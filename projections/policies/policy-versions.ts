import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { at, defineReadModel, id, integer, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { extensionConfigFamilies, extensionConfigEventTypes } from '../../src/contexts/extension-config-sources.ts';

const columns = { id, changes: integer, changed_at: timestamp };
export type PolicyVersionRow = Row<{ columns: typeof columns }>;

const changed = (event: RecordedEvent) => ({
  key: { id: event.tenantId },
  fold: (row: PolicyVersionRow | undefined) => ({
    id: event.tenantId,
    changes: (row?.changes ?? 0) + 1,
    changed_at: at(event),
  }),
});

/**
 * How often the configuration of a tenant's extensions has changed: the number in `policyVersion`. One row per tenant.
 */
export const policyVersions = defineReadModel({
  name: 'policy_versions',
  version: 5,
  lane: 'main',
  columns,
  key: ['id'],
  families: extensionConfigFamilies,
  on: Object.fromEntries(extensionConfigEventTypes.map((type) => [type, changed])),
});
