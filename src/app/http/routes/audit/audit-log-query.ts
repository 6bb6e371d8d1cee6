import { z } from 'zod';
import { auditRecordView, type AuditLogFilter } from '../../../../../queries/audit/audit-log-view.ts';
import { auditLogOrder } from '../../../../../queries/audit/list-audit-log.ts';
import type { Interval } from '../../../../../queries/settings/interval.ts';
import { keysetQuery, keysetView } from '../../keyset-query.ts';
import { dateRangeQuery, isOrderedRange, rangeOrderIssue } from '../../list-query.ts';

const word = z.string().max(200).optional();

/** Filters of the audit logs of tenants and organizations (interface, "Audit log"). */
export const auditLogFilterQuery = { ...dateRangeQuery, actor_id: word, action: word, resource_type: word };

type AskedFilter = Partial<Record<'actor_id' | 'action' | 'resource_type', string | undefined>>;

export const toAuditLogFilter = (query: AskedFilter, { from, to }: Interval): AuditLogFilter => ({
  actorId: query.actor_id,
  action: query.action,
  resourceType: query.resource_type,
  from,
  to,
});

export const auditListQuery = z
  .object({ ...keysetQuery(auditLogOrder), ...auditLogFilterQuery })
  .refine(isOrderedRange, rangeOrderIssue);
export const auditListResponse = z.object({ auditLogs: z.array(auditRecordView), ...keysetView });

export const verdictView = z.object({
  valid: z.boolean(),
  entriesChecked: z.int(),
  firstInvalidSequence: z.int().nullable(),
  reason: z.string().nullable(),
  verifiedAt: z.iso.datetime(),
});
