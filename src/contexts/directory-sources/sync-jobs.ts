import { z } from 'zod';
import type pg from 'pg';
import { startDirectorySync } from '../../../commands/directory-sources/start-directory-sync.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { declareJob, defineJob, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import type { DirectorySyncs } from './sync-directory.ts';

const HOUR_MS = 3_600_000;

/** Slow, so it has workers of its own. */
export const directorySyncing = declareJob({
  name: 'sync-directory',
  data: z.object({ tenantId: uuid(), sourceId: uuid(), syncId: uuid() }),
  attempts: 4,
  // A directory that cannot be reached is given up within half a minute, and asked again on schedule.
  backoff: [1_000, 5_000, 15_000],
  timeoutMs: 3 * HOUR_MS,
  lane: 'directories',
});

export const syncDirectoryJob = (syncs: Pick<DirectorySyncs, 'attempt'>): AnyJob =>
  defineJob({
    ...directorySyncing,
    handle: ({ tenantId, sourceId, syncId }, { correlationId, isLastAttempt, signal }) =>
      syncs.attempt({ tenantId: asTenantId(tenantId), sourceId, syncId, correlationId, isLastAttempt, signal }),
  });

/** Starts the work on a synchronization. `reason` tells apart its beginning, a confirmation and a rescue. */
export const enqueueDirectorySync = (
  jobs: Pick<Jobs, 'enqueue'>,
  { tenantId, sourceId, syncId }: { readonly tenantId: TenantId; readonly sourceId: string; readonly syncId: string },
  reason: string,
): Promise<void> =>
  jobs.enqueue(directorySyncing, { tenantId, sourceId, syncId }, { id: `${syncId}/${reason}`, tenantId });

export const dueDirectories = declareJob({
  name: 'sync-due-directories',
  data: z.object({}),
  attempts: 2,
  backoff: { firstMs: 5_000, longestMs: 30_000 },
});

const AT_ONCE = 200;
const TIME_LIMIT_MS = 30_000;
/** A synchronization whose job was lost, with all data of Redis, is taken up again after this time. */
const LOST_MINUTES = 1;

/** A new source waits for an interval: time to look at its plan, and to choose groups. */
const DUE = `
  select tenant_id, source_id, sync_id, sync_state from directory_sources
   where is_enabled
     and (sync_state in ('idle', 'succeeded', 'failed') and coalesce(last_started_at, created_at) < now() - sync_interval_minutes * interval '1 minute'
          or sync_state = 'syncing' and last_started_at < now() - interval '${LOST_MINUTES} minutes')
   order by last_started_at nulls first limit ${AT_ONCE}`;

interface Due {
  readonly tenant_id: string;
  readonly source_id: string;
  readonly sync_id: string | null;
  readonly sync_state: string;
}

export interface DueDirectoriesPorts {
  readonly projector: pg.Pool;
  readonly service: TenantPool;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  jobs(): Pick<Jobs, 'enqueue'>;
}

/** Starts synchronizations that are due, and takes up those that nobody works on. Runs every minute. */
export const syncDueDirectories = ({ projector, service, executor, jobs }: DueDirectoriesPorts): AnyJob =>
  defineJob({
    ...dueDirectories,
    handle: async () => {
      const minute = new Date().toISOString().slice(0, 16);
      const { rows } = await maintenanceQuery<Due>(projector, TIME_LIMIT_MS, DUE);
      for (const { tenant_id, source_id: sourceId, sync_id, sync_state } of rows) {
        const tenantId = asTenantId(tenant_id);
        if (sync_state === 'syncing') {
          // An attempt at work refuses the second one.
          if (!(await isWorkedOn(service, tenantId, sync_id!)))
            await enqueueDirectorySync(jobs(), { tenantId, sourceId, syncId: sync_id! }, `rescue/${minute}`);
          continue;
        }
        const started = await executor.execute(
          startDirectorySync,
          { sourceId, trigger: 'schedule', isDryRun: false },
          { tenantId, actor: system('directory-sync') },
        );
        if (!isFailure(started))
          await enqueueDirectorySync(jobs(), { tenantId, sourceId, syncId: started.result.syncId }, 'start');
      }
      await service.asSystem('select sweep_directory_syncs()');
    },
  });

async function isWorkedOn(service: TenantPool, tenantId: TenantId, syncId: string): Promise<boolean> {
  const { rowCount } = await service.statement(
    tenantId,
    'select 1 from directory_sync_runs where tenant_id = $1 and sync_id = $2 and holder is not null and held_until > now()',
    [syncId],
  );
  return (rowCount ?? 0) > 0;
}
