import { z } from 'zod';
import { domainScanId } from './domain/domain-scan.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import { dayOf } from '../../platform/kernel/read-model.ts';
import type { ScanRequester, DomainScans } from './domain-scans.ts';

const MINUTE_MS = 60_000;

/** Retries a scan that had no budget, for about two days. */
export const domainScanning = declareJob({
  name: 'scan-domain',
  data: z.object({ tenantId: uuid(), domain: z.string(), deviceId: uuid().nullable(), userId: uuid().nullable() }),
  attempts: 16,
  backoff: [MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS, 240 * MINUTE_MS],
});

export const scanDomainJob = (scans: Pick<DomainScans, 'scan'>, reads: (tenantId: TenantId) => TenantReads): AnyJob =>
  defineJob({
    ...domainScanning,
    handle: async ({ tenantId, domain, deviceId, userId }, { correlationId }) => {
      const isVisited = () => wasVisited(reads(asTenantId(tenantId)), domain);
      const { postponedUntil } = await scans.scan(
        domain,
        { deviceId, userId, hasWaited: true, isVisited },
        { tenantId: asTenantId(tenantId), actor: system('domain-scan'), correlationId },
      );
      if (postponedUntil !== undefined) throw new JobFailed('the budget of the service is used up');
    },
  });

/** Whether a browser of the tenant was seen on the host. */
export const wasVisited = async (reads: TenantReads, domain: string): Promise<boolean> =>
  (await reads.one('select 1 from endpoints where tenant_id = $1 and domain = $2', [domain])) !== undefined;

/** One job per domain and day, however many browsers request it. */
export const scanLater = (
  jobs: Pick<Jobs, 'enqueue'>,
  tenantId: TenantId,
  domain: string,
  { deviceId, userId }: ScanRequester,
  at: number,
): Promise<void> =>
  jobs.enqueue(
    domainScanning,
    { tenantId, domain, deviceId, userId },
    { id: `${tenantId}/${domainScanId(domain)}/${dayOf(Date.now())}`, delayMs: at - Date.now(), tenantId },
  );
