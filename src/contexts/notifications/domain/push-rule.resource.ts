import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import { defineCollection, type RecordOf } from '../../../platform/resources/collection.ts';
import { groupReference } from '../../groups/domain/group.ts';
import { scheduleReference } from '../../on-call/domain/schedule.ts';
import { alertTypes, alertTypeSchema, severities, severitySchema } from '../../alerts/domain/vocabulary.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

/** Every alert is compared with all rules of its tenant. */
export const MAX_PUSH_RULES = 100;
const MAX_GROUPS = 100;

/** Empty: every alert. Filters that are set must all match; within one, one value is enough (OP-186). */
export const pushRuleFilters = {
  severities: z.array(severitySchema).max(severities.length),
  alertTypes: z.array(alertTypeSchema).max(alertTypes.length),
  /** Groups of the person whom the alert is about. */
  groupIds: z.array(uuid()).max(MAX_GROUPS),
  /** Null: everybody who is on call. */
  scheduleId: uuid().nullable(),
};

const PUSH_FILTERS = ['severities', 'alertTypes', 'groupIds', 'scheduleId'] as const;
type Filter = readonly string[] | string | null;
/** What a filter let through before, it still lets through. An empty one lets everything through. */
function keeps(before: Filter, after: Filter): boolean {
  const [was, is] = [before, after].map((value) => (typeof value === 'string' ? [value] : (value ?? [])));
  return is!.length === 0 || (was!.length > 0 && was!.every((one) => is!.includes(one)));
}

/** Which alerts reach the mobile devices of people on call (F205). Without a rule, none does. */
export const pushRules = defineCollection({
  noun: 'pushRule',
  list: 'rules',
  area: 'alert-notifications',
  path: '/api/v1/admin/alert-notifications/push-rules',
  parameter: 'ruleId',
  verbs: ['list', 'create', 'update', 'delete'],
  access: { read: 'notifications:read', write: 'notifications:write' },
  table: 'push_rules',
  version: 1,
  fields: {
    name: nameField(),
    isEnabled: z.boolean().default(true),
    severities: pushRuleFilters.severities.default([]),
    alertTypes: pushRuleFilters.alertTypes.default([]),
    groupIds: pushRuleFilters.groupIds.default([]),
    scheduleId: pushRuleFilters.scheduleId.default(null),
  },
  references: { groupIds: groupReference, scheduleId: scheduleReference },
  most: MAX_PUSH_RULES,
  watch: {
    silencedWhere: 'the rule is on, and then calls fewer people, or about fewer alerts, or is deleted',
    title: 'A rule that calls people about alerts was deleted, switched off or narrowed',
    silences: (before, after) =>
      before.isEnabled && !(after?.isEnabled && PUSH_FILTERS.every((field) => keeps(before[field], after[field]))),
  },
});
export type PushRule = RecordOf<typeof pushRules>;
