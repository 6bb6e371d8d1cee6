import { z } from 'zod';
import { getDomainScan } from '../../../../../queries/threat-intel/get-domain-scan.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import { scanLater, wasVisited } from '../../../../contexts/threat-intel/scan-domain.ts';
import { deviceAccess } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { DomainScans } from '../../../../contexts/threat-intel/domain-scans.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';

export interface DomainScansRouteDependencies {
  readonly jobs: Jobs;
  readonly domainScans: DomainScans;
  reads(tenantId: TenantId): TenantReads;
}

const route = routeWith<DomainScansRouteDependencies>();

const base = '/api/v1/ext/domain-scans';
const host = hostField();
const scanData = {
  scannerLastScannedAt: z.iso.datetime().nullable(),
  scannerIsMalicious: z.boolean().nullable(),
  reputationLastScannedAt: z.iso.datetime().nullable(),
  reputationMaliciousCount: z.int().nullable(),
};

export const domainScanRoutes: RouteGroup<DomainScansRouteDependencies> = {
  area: 'ext',
  routes: [
    route({
      method: 'GET',
      path: `${base}/{domain}`,
      access: deviceAccess,
      summary: 'Get whether a domain needs a scan',
      description: 'It does if it was never scanned, or more than seven days ago.',
      params: z.object({ domain: z.string() }),
      response: z.object({
        domain: z.string(),
        needsScan: z.boolean(),
        scannerNeedsScan: z.boolean(),
        reputationNeedsScan: z.boolean(),
        ...scanData,
      }),
      handle: ({ ask, params }) => {
        const read = host.safeParse(params.domain);
        if (!read.success) throw new FailureError(invalid('domain', 'must be a host name'));
        return ask(getDomainScan, { domain: read.data, now: Date.now() });
      },
    }),
    route({
      method: 'POST',
      path: `${base}/check`,
      access: deviceAccess,
      summary: 'Check a domain with the threat-intelligence services',
      operation: 'checkDomain',
      description:
        'The service queries them at most once in seven days per domain; in between, stored results are returned.',
      /** `url` is accepted but not used: for privacy, third parties only get the domain. */
      body: z.object({ domain: host, url: z.string().max(2_048).nullish() }),
      response: z.object({
        domain: z.string(),
        scanned: z.boolean(),
        verdict: z.enum(['clean', 'malicious', 'unknown']),
        isMalicious: z.boolean(),
        ...scanData,
      }),
      handle: async ({ body: { domain }, principal, services, request }) => {
        const { tenantId, deviceId, userId } = principal;
        const issuer = { tenantId, actor: actorOf(principal, request), correlationId: request.id };
        const { data, verdict, scanned, postponedUntil } = await services.domainScans.scan(
          domain,
          { deviceId, userId, isVisited: () => wasVisited(services.reads(tenantId), domain) },
          issuer,
        );
        if (postponedUntil !== undefined && (await services.domainScans.mayWait(tenantId, deviceId)))
          await scanLater(services.jobs, tenantId, domain, { deviceId, userId }, postponedUntil);
        return { domain, scanned, verdict, isMalicious: verdict === 'malicious', ...data };
      },
    }),
  ],
};
