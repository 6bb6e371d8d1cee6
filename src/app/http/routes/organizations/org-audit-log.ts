import { listAuditLog } from '../../../../../queries/audit/list-audit-log.ts';
import { verifyTenant, type VerifyDependencies } from '../../../../contexts/audit/verify.ts';
import { orgAdministration } from '../../access.ts';
import { auditListResponse, auditListQuery, toAuditLogFilter, verdictView } from '../audit/audit-log-query.ts';
import { toPage } from '../../list-query.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { EventCodec } from '../../../../platform/eventstore/codec.ts';

export interface OrgAuditLogRouteDependencies extends VerifyDependencies {
  readonly codec: EventCodec;
}

const route = routeWith<OrgAuditLogRouteDependencies>();

const base = '/api/v1/org/audit-log';

/** The organization's own chain: what its admins did, and what operators did to it. Its tenants' chains are theirs. */
export const orgAuditLogRoutes: RouteGroup<OrgAuditLogRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: orgAdministration,
      summary: 'Who decided what in the organization and when, newest first',
      query: auditListQuery,
      response: auditListResponse,
      handle: ({ ask, query, services: { codec } }) =>
        ask(listAuditLog, { ...toPage(query), ...toAuditLogFilter(query), reveal: (events) => codec.reveal(events) }),
    }),
    route({
      method: 'GET',
      path: `${base}/verify`,
      access: orgAdministration,
      summary: "Replays the organization's event log and compares: 200 also when the chain does not hold",
      response: verdictView,
      handle: ({ services, principal }) => verifyTenant(services, principal.tenantId),
    }),
  ],
};
