import { z } from 'zod';
import type { PolicyRow } from '../../projections/policies/policies.ts';
import { ruleSchema } from '../../src/contexts/policies/domain/events.ts';

/** A policy as the interface shows it (choices OP-106, OP-112). */
export const policyView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    priority: z.int(),
    isEnabled: z.boolean(),
    rules: z.array(ruleSchema),
    groupIds: z.array(z.uuid()),
    /** Number of the policy's changes, starting at 1. */
    version: z.int(),
    createdBy: z.uuid().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Policy' });
export type PolicyView = z.output<typeof policyView>;

export const toPolicyView = (row: PolicyRow): PolicyView => ({
  id: row.policy_id,
  name: row.name,
  description: row.description,
  priority: row.priority,
  isEnabled: row.is_enabled,
  rules: [...row.rules],
  groupIds: [...row.group_ids],
  version: row.version,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** The order of evaluation (choice OP-109), also used for lists. */
export const ORDER_BY_PRECEDENCE = 'order by priority, created_at, policy_id';
