import type { TenantReads } from '../../src/kernel/query.ts';
import { AUDIT_LOG_FILTER, auditRecordOf, filterValues, SELECT_AUDIT_LOG, type AuditLogFilter, type AuditLogRowWithNames, type AuditRecordView } from './audit-log-view.ts';

const SQL = `${SELECT_AUDIT_LOG} ${AUDIT_LOG_FILTER} order by a.sequence`;

/** All that a filter finds, oldest first, from one snapshot and in constant memory. */
export async function* exportAuditLog(reads: TenantReads, filter: AuditLogFilter): AsyncGenerator<AuditRecordView> {
  for await (const row of reads.stream<AuditLogRowWithNames>(SQL, filterValues(filter))) yield auditRecordOf(row);
}
