import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import { domainMatchField } from './domain-match.ts';
import { conditions, ruleActions } from './events.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

const MAX_RULES = 100;
/** Bounded because every event of a policy contains all its groups. */
export const MAX_GROUPS = 1_000;

const rule = z.object({
  id: uuid().optional(),
  domainMatch: domainMatchField,
  condition: z.enum(conditions),
  action: z.enum(ruleActions),
  message: z.string().max(500).optional(),
});

/**
 * The input fields of a policy (interface, "Policy"; choices OP-106, OP-112). Limits are here and not in the events, so
 * that stricter limits never make old events unreadable.
 */
export const policyFields = {
  name: nameField(),
  description: z.string().max(2_000),
  /** Lower numbers are evaluated first. */
  priority: z.int().min(0).max(10_000),
  isEnabled: z.boolean(),
  rules: z.array(rule).min(1).max(MAX_RULES),
  /** Empty: every device of the tenant. */
  groupIds: z
    .array(uuid())
    .max(MAX_GROUPS)
    .transform((ids) => [...new Set(ids)]),
};

export const newPolicy = z.object({
  ...policyFields,
  description: policyFields.description.default(''),
  priority: policyFields.priority.default(100),
  isEnabled: policyFields.isEnabled.default(true),
  groupIds: policyFields.groupIds.default([]),
});
export type PolicyContent = z.output<typeof newPolicy>;

export const policyChanges = z.object(policyFields).partial();
export type PolicyChanges = z.output<typeof policyChanges>;

/** A policy that is tried before it is saved: only its rules are required. */
export const policyDraft = newPolicy.extend({ name: policyFields.name.default('Draft') });
export type PolicyDraft = z.output<typeof policyDraft>;
