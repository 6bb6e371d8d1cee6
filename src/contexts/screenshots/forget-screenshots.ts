import { z } from 'zod';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { asTenantId, uuid } from '../../platform/kernel/ids.ts';
import { ObjectStoreUnavailable } from '../../platform/objects/object-store.ts';
import type { Pictures } from './pictures.ts';

/** Deletes the stored screenshots of a deleted or erased person. Idempotent. */
export const screenshotForgetting = declareJob({
  name: 'forget-screenshots',
  data: z.object({ tenantId: uuid(), userId: uuid() }),
  attempts: 12,
  backoff: { firstMs: 5_000, longestMs: 3_600_000 },
});

export const forgetScreenshots = (pictures: Pick<Pictures, 'deleteAllOf'>): AnyJob =>
  defineJob({
    ...screenshotForgetting,
    handle: async ({ tenantId, userId }, { signal }) => {
      try {
        await pictures.deleteAllOf(asTenantId(tenantId), userId, signal);
      } catch (error) {
        throw new JobFailed(
          error instanceof ObjectStoreUnavailable ? error.message : 'the screenshots were not deleted',
          { cause: error },
        );
      }
    },
  });
