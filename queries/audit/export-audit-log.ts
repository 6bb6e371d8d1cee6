import type { TenantReads } from '../../src/platform/kernel/query.ts';
import {
  AUDIT_LOG_FILTER,
  auditRecords,
  filterValues,
  SELECT_AUDIT_LOG,
  type AuditLogFilter,
  type AuditLogRowWithNames,
  type AuditRecordView,
  type Reveal,
} from './audit-log-view.ts';

const PAGE = 500;
const LAST = 'select coalesce(max(position), 0)::text as position from audit_log where tenant_id = $1';
const SQL = `${SELECT_AUDIT_LOG} ${AUDIT_LOG_FILTER} and a.position > $7 and a.position <= $8 order by a.position limit ${PAGE}`;

/**
 * Yields all entries that match a filter up to now, oldest first, in constant memory. Entries never change, so pages
 * need no common snapshot, and a slow client holds no connection.
 */
export async function* exportAuditLog(
  reads: TenantReads,
  filter: AuditLogFilter,
  reveal: Reveal,
): AsyncGenerator<AuditRecordView> {
  for await (const rows of pagesOf(reads, filter)) yield* await auditRecords(reads.tenantId, rows, reveal);
}

/** The same for all entries, each with the row that the chain is made of. */
export async function* exportAuditRows(
  reads: TenantReads,
  reveal: Reveal,
): AsyncGenerator<{ readonly row: AuditLogRowWithNames; readonly record: AuditRecordView }> {
  for await (const rows of pagesOf(reads, {})) {
    const records = await auditRecords(reads.tenantId, rows, reveal);
    yield* rows.map((row, at) => ({ row, record: records[at]! }));
  }
}

async function* pagesOf(reads: TenantReads, filter: AuditLogFilter): AsyncGenerator<readonly AuditLogRowWithNames[]> {
  const last = await reads.one<{ position: string }>(LAST);
  for (let after = '0'; ;) {
    const rows = await reads.rows<AuditLogRowWithNames>(SQL, [...filterValues(filter), after, last!.position]);
    yield rows;
    if (rows.length < PAGE) return;
    after = String(rows.at(-1)!.position);
  }
}
