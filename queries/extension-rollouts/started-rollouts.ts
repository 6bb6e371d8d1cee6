import type { ExtensionRolloutRow } from '../../projections/extension-rollouts/extension-rollouts.ts';
import type { StartedRollout } from '../../src/contexts/extension-rollouts/domain/direction.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Directions hardly ever look further back than to the last completed rollout of a browser. */
const MOST = 50;

const STARTED = `
  select rollout_id, status, content, salt, stage, round from extension_rollouts
   where tenant_id = $1 and started_at is not null order by started_at desc, rollout_id limit ${MOST}`;

type Started = Pick<ExtensionRolloutRow, 'rollout_id' | 'content' | 'salt' | 'stage' | 'round'> &
  Pick<StartedRollout, 'status'>;

/** Rollouts that were started, newest start first, for the directions of devices. */
export const startedRollouts: Query<undefined, StartedRollout[]> = async (reads) =>
  (await reads.rows<Started>(STARTED)).map(({ rollout_id: rolloutId, content, ...row }) => ({
    rolloutId,
    status: row.status,
    salt: row.salt,
    stage: row.stage,
    round: row.round,
    version: content.version,
    browserType: content.browserType,
    rollbackVersion: content.rollbackVersion,
    returnsOnHalt: content.returnsOnHalt,
    stages: content.stages,
  }));
