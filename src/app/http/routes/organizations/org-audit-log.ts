import { verifyTenant, type VerifyDependencies } from '../../../../contexts/audit/verify.ts';
import { orgAdministration } from '../../access.ts';
import { auditListResponse, auditListQuery, auditPage, verdictView } from '../audit/audit-log-query.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { EventCodec } from '../../../../platform/eventstore/codec.ts';

export interface OrgAuditLogRouteDependencies extends VerifyDependencies {
  readonly codec: EventCodec;
}

const route = routeWith<OrgAuditLogRouteDependencies>();

const base = '/api/v1/org/audit-log';

/** The organization's own chain: actions of its admins, and of operators on it. Its tenants have their own chains. */
export const orgAuditLogRoutes: RouteGroup<OrgAuditLogRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: orgAdministration,
      summary: 'List audit log entries of the organization',
      description: 'Newest first.',
      query: auditListQuery,
      response: auditListResponse,
      handle: auditPage,
    }),
    route({
      method: 'GET',
      path: `${base}/verify`,
      access: orgAdministration,
      summary: 'Verify the audit chain of the organization',
      refuses: ['audit_log_behind'],
      description:
        'Replays the event log and compares it with the chain. Returns 200 also for an invalid chain, with `valid: false`.',
      response: verdictView,
      handle: ({ services, principal }) => verifyTenant(services, principal.tenantId),
    }),
  ],
};
