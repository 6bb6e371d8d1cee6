import { paginated, type Page, type Paginated, type Query } from '../../src/kernel/query.ts';
import { AUDIT_LOG_FILTER, auditRecordOf, filterValues, SELECT_AUDIT_LOG, type AuditLogFilter, type AuditLogRowWithNames, type AuditRecordView } from './audit-log-view.ts';

const COUNT = `select count(*)::int as total from audit_log a ${AUDIT_LOG_FILTER}`;
const PAGE = `${SELECT_AUDIT_LOG} ${AUDIT_LOG_FILTER} order by a.sequence desc limit $7 offset $8`;

/** The newest decisions first. */
export const listAuditLog: Query<AuditLogFilter & Page, { auditLogs: AuditRecordView[] } & Paginated> = async (reads, input) => {
  const filter = filterValues(input);
  const [count, rows] = await Promise.all([
    reads.one<{ total: number }>(COUNT, filter),
    reads.rows<AuditLogRowWithNames>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { auditLogs: rows.map(auditRecordOf), ...paginated(count?.total ?? 0, input) };
};
