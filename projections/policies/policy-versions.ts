import { policyEvents } from '../../src/domain/policies/events.ts';
import type { EventFamily, Recorded } from '../../src/kernel/event.ts';
import { at, defineReadModel, id, integer, timestamp, type Row } from '../../src/kernel/read-model.ts';
import { resources } from '../../src/resources/index.ts';

const columns = { id, changes: integer, changed_at: timestamp };
export type PolicyVersionRow = Row<{ columns: typeof columns }>;

/** Whose every event changes what an extension is told: policies, and the declared resources that say so of themselves. */
const told: readonly EventFamily[] = [policyEvents, ...resources.filter(({ declared }) => declared.toldToExtensions).map(({ events }) => events)];

const changed = (event: Recorded) => ({
  key: { id: event.tenantId },
  fold: (row: PolicyVersionRow | undefined) => ({ id: event.tenantId, changes: (row?.changes ?? 0) + 1, changed_at: at(event) }),
});

/** How often what a tenant's extensions are told has changed: the number behind `policyVersion`, one row a tenant. */
export const policyVersions = defineReadModel({
  name: 'policy_versions',
  version: 1,
  lane: 'main',
  columns,
  key: ['id'],
  families: told,
  on: Object.fromEntries(told.flatMap(({ definitions }) => Object.keys(definitions)).map((type) => [type, changed])),
});
