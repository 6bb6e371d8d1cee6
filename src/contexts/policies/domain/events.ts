import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

/** Choices OP-106, OP-107. */
export const conditions = [
  'any',
  'password_reuse',
  'breached_password',
  'phishing_signal',
  'weak_password',
  'malicious_domain',
  'new_site',
  'clickfix',
] as const;
export const matchTypes = ['exact', 'wildcard', 'regex'] as const;
export const ruleActions = ['allow', 'warn', 'block'] as const;

export const ruleSchema = z.object({
  id: uuid().optional(),
  domainMatch: z.object({ type: z.enum(matchTypes), value: z.string().min(1).max(512) }),
  condition: z.enum(conditions),
  action: z.enum(ruleActions),
  message: z.string().max(500).optional(),
});
export type Rule = z.output<typeof ruleSchema>;

const content = {
  policyId: uuid(),
  name: z.string(),
  description: z.string(),
  priority: z.int(),
  isEnabled: z.boolean(),
  rules: z.array(ruleSchema),
  groupIds: z.array(uuid()),
};

export const policyEvents = defineEvents('policy', {
  PolicyCreated: { version: 1, schema: z.object(content), audit: 'policy.created' },
  PolicyUpdated: { version: 1, schema: z.object(content), audit: 'policy.updated' },
  PolicyDeleted: { version: 1, schema: z.object({ policyId: uuid() }), audit: 'policy.deleted' },
});
export type PolicyEvent = EventOf<typeof policyEvents>;
