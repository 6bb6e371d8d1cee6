import { policyEvents, type PolicyEvent, type Rule } from '../../src/contexts/policies/domain/events.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  policy_id: id,
  name: text,
  description: text,
  priority: integer,
  is_enabled: flag,
  rules: json<readonly Rule[]>(),
  group_ids: json<readonly string[]>(),
  version: integer,
  created_by: nullable(id),
  created_at: timestamp,
  updated_at: timestamp,
};
export type PolicyRow = Row<{ columns: typeof columns }>;

type Content = Extract<PolicyEvent, { type: 'PolicyCreated' }>['data'];
const contentColumns = ({ policyId, name, description, priority, isEnabled, rules, groupIds }: Content) => ({
  policy_id: policyId,
  name,
  description,
  priority,
  is_enabled: isEnabled,
  rules,
  group_ids: groupIds,
});

/** All policies. Admins see them all; extensions get the enabled ones. */
export const policies = defineReadModel({
  name: 'policies',
  version: 1,
  lane: 'main',
  columns,
  key: ['policy_id'],
  indexes: [['priority', 'created_at', 'policy_id']],
  families: [policyEvents],
  on: {
    PolicyCreated: (event) => ({
      key: { policy_id: event.data.policyId },
      fold: () => ({
        ...contentColumns(event.data),
        version: 1,
        created_by: event.metadata.actor.id,
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    PolicyUpdated: (event) => ({
      key: { policy_id: event.data.policyId },
      fold: (row) => row && { ...row, ...contentColumns(event.data), version: row.version + 1, updated_at: at(event) },
    }),
    PolicyDeleted: (event) => ({ key: { policy_id: event.data.policyId }, fold: () => undefined }),
  },
});
