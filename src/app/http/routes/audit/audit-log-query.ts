import { z } from 'zod';
import { auditRecordView, type AuditLogFilter, type Reveal } from '../../../../../queries/audit/audit-log-view.ts';
import { auditLogOrder, listAuditLog } from '../../../../../queries/audit/list-audit-log.ts';
import { intervalOf, type Interval } from '../../../../../queries/settings/interval.ts';
import type { EventCodec } from '../../../../platform/eventstore/codec.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, toPage } from '../../list-query.ts';
import type { HandlerContext } from '../../route.ts';

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

export const auditListQuery = z.object({ ...keysetQuery(auditLogOrder), ...auditLogFilterQuery }).check(orderedRange);
export const auditListResponse = z.object({ auditLogs: z.array(auditRecordView), ...keysetView });

type AuditListCall = Pick<HandlerContext<unknown, z.output<typeof auditListQuery>, unknown>, 'ask' | 'query'> & {
  readonly services: { readonly codec: EventCodec };
};

/** A page of the audit log of the caller's tenant or organization. */
export async function auditPage({ ask, query, services: { codec } }: AuditListCall) {
  const filter = toAuditLogFilter(query, await ask(intervalOf, query));
  const reveal: Reveal = (events) => codec.reveal(events);
  return withNextMark(auditLogOrder, await ask(listAuditLog, { ...toPage(query), ...filter, reveal }));
}

export const verdictView = z.object({
  valid: z.boolean(),
  entriesChecked: z.int(),
  firstInvalidSequence: z.int().nullable(),
  reason: z.string().nullable(),
  verifiedAt: z.iso.datetime(),
});
