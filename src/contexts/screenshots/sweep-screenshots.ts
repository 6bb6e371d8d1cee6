import { z } from 'zod';
import type pg from 'pg';
import { screenshotDay, screenshotDayStream } from './domain/screenshot-day.ts';
import type { License } from '../tenants/domain/license.ts';
import { retentionUnder } from '../settings/domain/retention.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { dayOf } from '../../platform/kernel/read-model.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import { ObjectStoreUnavailable, type ObjectStore } from '../../platform/objects/object-store.ts';
import { personKey, type PersonKeys } from '../../platform/vault/vault.ts';
import { SCREENSHOT_PREFIX, screenshotLocationOf } from './pictures.ts';

/** Age below which objects are kept: an upload in progress has an object but no event yet. */
const LEFT_ALONE_MS = 3_600_000;
const DAY_MS = 86_400_000;
const TRIM = 'delete from screenshots where tenant_id = $1 and day < $2::date';

export interface Sweeping {
  readonly objects: ObjectStore;
  readonly aggregates: AggregateReader;
  readonly personKeys: Pick<PersonKeys, 'forOpening'>;
  readonly projector: pg.Pool;
  /** Objects without an event are deleted, so the log must be trusted. */
  readonly trust: Pick<LogTrust, 'assured'>;
  /** The operator's settings; a tenant's license may allow less. */
  readonly kept: { readonly eventRetentionDays: number; readonly streamRetentionDays: number };
}

/**
 * Deletes screenshots with the events of their day (choice OP-122), and orphaned objects: of uploads that a crash
 * interrupted, or of persons erased during the upload. Reads the log, not read models, so that a lagging read model
 * never causes a deletion.
 */
export const screenshotSweeping = declareJob({
  name: 'sweep-screenshots',
  data: z.object({}),
  attempts: 5,
  backoff: { firstMs: 5_000, longestMs: 300_000 },
  timeoutMs: 3_600_000,
});

export const sweepScreenshots = (sweeping: Sweeping): AnyJob =>
  defineJob({
    ...screenshotSweeping,
    handle: async (_data, { signal }) => {
      try {
        await sweeping.trust.assured();
        const firstKept = await trimRows(sweeping);
        for await (const { key, storedAt } of sweeping.objects.list(SCREENSHOT_PREFIX)) {
          if (signal.aborted) return;
          if (Date.now() - storedAt > LEFT_ALONE_MS && (await isOver(sweeping, key, firstKept))) {
            await sweeping.trust.assured();
            await sweeping.objects.delete(key);
          }
        }
      } catch (error) {
        throw new JobFailed(
          error instanceof ObjectStoreUnavailable ? error.message : 'the screenshots were not swept',
          { cause: error },
        );
      }
    },
  });

/** Returns, for each tenant, the first day whose screenshots are kept. */
async function trimRows({ projector, kept }: Sweeping): Promise<ReadonlyMap<string, string>> {
  const { rows } = await projector.query<{ id: string; license: License | null }>('select id, license from tenants');
  const firstKept = new Map<string, string>();
  for (const { id, license } of rows) {
    const { eventRetentionDays } = license ? retentionUnder(license, kept) : kept;
    const first = dayOf(Date.now() - eventRetentionDays * DAY_MS);
    firstKept.set(id, first);
    await projector.query(TRIM, [id, first]);
  }
  return firstKept;
}

async function isOver(
  { aggregates, personKeys }: Sweeping,
  key: string,
  firstKept: ReadonlyMap<string, string>,
): Promise<boolean> {
  const { tenantId, userId, deviceId, day, screenshotId } = screenshotLocationOf(key);
  if (day < (firstKept.get(tenantId) ?? '')) return true;
  const person = { tenantId: tenantId as TenantId, personId: userId };
  if (!(await personKeys.forOpening([person])).has(personKey(person))) return true;
  const { eventOf } = await aggregates.load(screenshotDay, screenshotDayStream(tenantId, deviceId, day));
  return !eventOf.has(screenshotId);
}
