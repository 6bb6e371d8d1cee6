import { z } from 'zod';
import { auditRecordView, type AuditRecordView } from '../../../../../queries/audit/audit-log-view.ts';
import { exportAuditLog } from '../../../../../queries/audit/export-audit-log.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { admin } from '../../access.ts';
import {
  auditListResponse,
  auditListQuery,
  auditLogFilterQuery,
  auditPage,
  toAuditLogFilter,
  verdictView,
} from './audit-log-query.ts';
import { verifyTenant, type VerifyDependencies } from '../../../../contexts/audit/verify.ts';
import { asCsv, asJsonArray } from '../../exported-rows.ts';
import { sendExport } from '../../send-export.ts';
import { orderedRange } from '../../list-query.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { EventCodec } from '../../../../platform/eventstore/codec.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Limits } from '../../../config/limits.ts';

export interface AuditLogRouteDependencies extends VerifyDependencies {
  readonly codec: EventCodec;
  reads(tenantId: TenantId): TenantReads;
  readonly limits: Limits;
}

const route = routeWith<AuditLogRouteDependencies>();

const base = '/api/v1/admin/audit-log';

const CSV_COLUMNS = [
  'sequence',
  'timestamp',
  'actorType',
  'actorId',
  'actorEmail',
  'action',
  'resourceType',
  'resourceId',
  'details',
  'ipAddress',
  'userAgent',
  'id',
  'previousHash',
  'hash',
];

/** CSV cells hold text, so `details` is written as JSON. */
async function* cells(records: AsyncIterable<AuditRecordView>): AsyncGenerator<object> {
  for await (const { details, ...record } of records) yield { ...record, details: JSON.stringify(details) };
}

export const auditLogRoutes: RouteGroup<AuditLogRouteDependencies> = {
  area: 'audit-log',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('audit:read'),
      summary: 'List audit log entries',
      description: 'Newest first.',
      query: auditListQuery,
      response: auditListResponse,
      handle: auditPage,
    }),
    route({
      method: 'GET',
      path: `${base}/export`,
      access: admin('audit:export'),
      summary: 'Export the audit log',
      sends: ['Content-Disposition'],
      description: 'A file in CSV or JSON, oldest first.',
      query: z
        .object({ ...auditLogFilterQuery, format: z.enum(['csv', 'json']).optional().default('json') })
        .check(orderedRange),
      response: { media: 'application/json', schema: z.array(auditRecordView) },
      otherMedia: { 'text/csv': 'file' },
      handle: async ({ ask, query, services, principal, reply }) => {
        const filter = toAuditLogFilter(query, await ask(intervalOf, query));
        const records = exportAuditLog(services.reads(principal.tenantId), filter, (events) =>
          services.codec.reveal(events),
        );
        const file = {
          name: `audit-log.${query.format}`,
          type: query.format === 'csv' ? 'text/csv' : 'application/json',
        };
        return sendExport(reply, services.limits.exports, principal.tenantId, file, () =>
          query.format === 'csv' ? asCsv(cells(records), CSV_COLUMNS) : asJsonArray(records),
        );
      },
    }),
    route({
      method: 'GET',
      path: `${base}/verify`,
      access: admin('audit:read'),
      summary: 'Verify the audit chain',
      refuses: ['audit_log_behind'],
      description:
        'Replays the event log and compares it with the chain. Returns 200 also for an invalid chain, with `valid: false`.',
      response: verdictView,
      handle: ({ services, principal: { tenantId } }) =>
        services.limits.verifications.run(tenantId, () => verifyTenant(services, tenantId)),
    }),
  ],
};
