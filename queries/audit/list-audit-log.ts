import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { descending, listPage, type KeysetOrder } from '../keyset.ts';
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
const COUNT_ALL = `select sequence as total from audit_log a ${AUDIT_LOG_FILTER.replace('a.position > 0', 'a.position = 0')}`;

export const auditLogOrder: KeysetOrder<AuditLogRowWithNames> = {
  list: 'audit-log',
  columns: [descending('a.position', 'bigint')],
  valuesOf: ({ position }) => [position],
};

/** Newest entries first. */
export const listAuditLog: Query<
  AuditLogFilter & Page & { reveal: Reveal },
  { auditLogs: AuditRecordView[] } & KeysetPaginated
> = async (reads, input) => {
  const filter = filterValues(input);
  const all = filter.every((value) => value === null);
  const { rows, ...pages } = await listPage(
    reads,
    {
      order: auditLogOrder,
      count: all ? COUNT_ALL : COUNT,
      page: ({ where, tail }) => `${SELECT_AUDIT_LOG} ${AUDIT_LOG_FILTER} ${where} ${tail}`,
    },
    filter,
    input,
  );
  return { auditLogs: await auditRecords(reads.tenantId, rows, input.reveal), ...pages };
};
