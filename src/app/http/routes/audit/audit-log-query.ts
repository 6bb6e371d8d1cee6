import { z } from 'zod';
import { auditRecordView, type AuditLogFilter } from '../../../../../queries/audit/audit-log-view.ts';
import { dateRangeQuery, isOrderedRange, rangeOrderIssue, pageQuery, paginatedView } from '../../list-query.ts';

const word = z.string().max(200).optional();

/** Filters of the audit logs of tenants and organizations (interface, "Audit log"). */
export const auditLogFilterQuery = { ...dateRangeQuery, actor_id: word, action: word, resource_type: word };

type AskedFilter = Partial<
  Record<'actor_id' | 'action' | 'resource_type' | 'start_date' | 'end_date', string | undefined>
>;

export const toAuditLogFilter = (query: AskedFilter): AuditLogFilter => ({
  actorId: query.actor_id,
  action: query.action,
  resourceType: query.resource_type,
  from: query.start_date,
  to: query.end_date,
});

export const auditListQuery = z
  .object({ ...pageQuery, ...auditLogFilterQuery })
  .refine(isOrderedRange, rangeOrderIssue);
export const auditListResponse = z.object({ auditLogs: z.array(auditRecordView), ...paginatedView });

export const verdictView = z.object({
  valid: z.boolean(),
  entriesChecked: z.int(),
  firstInvalidSequence: z.int().nullable(),
  reason: z.string().nullable(),
  verifiedAt: z.iso.datetime(),
});
