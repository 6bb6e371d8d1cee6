import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
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

const COUNT = `select count(*)::int as total from audit_log a ${AUDIT_LOG_FILTER}`;
/** Entries are numbered from 1 without gaps, so the last number is the count. */
const COUNT_ALL = 'select sequence as total from audit_log where tenant_id = $1 and position = 0';
const PAGE = `${SELECT_AUDIT_LOG} ${AUDIT_LOG_FILTER} order by a.position desc limit $7 offset $8`;

/** Newest entries first. */
export const listAuditLog: Query<
  AuditLogFilter & Page & { reveal: Reveal },
  { auditLogs: AuditRecordView[] } & Paginated
> = async (reads, input) => {
  const filter = filterValues(input);
  const all = filter.every((value) => value === null);
  const [count, rows] = await Promise.all([
    all ? reads.figures<{ total: number }>(COUNT_ALL) : reads.figures<{ total: number }>(COUNT, filter),
    reads.rows<AuditLogRowWithNames>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { auditLogs: await auditRecords(reads.tenantId, rows, input.reveal), ...paginated(count?.total ?? 0, input) };
};
