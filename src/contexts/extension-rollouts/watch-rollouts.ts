import type pg from 'pg';
import { z } from 'zod';
import { judgeExtensionRollout } from '../../../commands/extension-rollouts/judge-extension-rollout.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { FIGURES, figuresOf, type FiguresRow } from '../../../queries/extension-rollouts/rollout-figures.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';

/** The statement reads the rollouts of all tenants. */
const TIME_LIMIT_MS = 60_000;

/** A tenant has at most one active rollout for each browser. */
const ACTIVE = `
  select r.tenant_id, r.rollout_id, r.round, r.stage, f.*
    from extension_rollouts r
    cross join lateral (
      select ${FIGURES} from extension_rollout_devices d
       where d.tenant_id = r.tenant_id and d.rollout_id = r.rollout_id and d.round = r.round
    ) f
   where r.status = 'active'`;

interface ActiveRow extends FiguresRow {
  readonly tenant_id: string;
  readonly rollout_id: string;
  readonly round: number;
  readonly stage: number;
}

export const rolloutWatching = declareJob({
  name: 'watch-extension-rollouts',
  data: z.object({}),
  attempts: 3,
  backoff: { firstMs: 5_000, longestMs: 30_000 },
});

/**
 * Judges all active rollouts. The command decides by the state and the figures alone, so a run after a crash, or beside
 * another one, decides nothing twice. A rollout that fails does not keep the others from their turn.
 */
export const watchRollouts = (projector: pg.Pool, executor: Pick<Executor<CommandPorts>, 'execute'>): AnyJob =>
  defineJob({
    ...rolloutWatching,
    handle: async () => {
      const { rows } = await maintenanceQuery<ActiveRow>(projector, TIME_LIMIT_MS, ACTIVE);
      let failed = 0;
      for (const row of rows) {
        const judged = { rolloutId: row.rollout_id, round: row.round, stage: row.stage, figures: figuresOf(row) };
        const execution = { tenantId: asTenantId(row.tenant_id), actor: system('extension-rollouts') };
        const outcome = await executor.execute(judgeExtensionRollout, judged, execution).catch(() => undefined);
        if (outcome === undefined || isFailure(outcome)) failed += 1;
      }
      if (failed > 0) throw new JobFailed('an extension rollout could not be judged');
    },
  });
