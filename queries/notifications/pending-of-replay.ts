import type { Query } from '../../src/platform/kernel/query.ts';

const COUNT = `
  select count(*)::int as total from deliveries
   where tenant_id = $1 and replay_id = $2 and next_attempt_at is not null`;

/** Messages of a replay that the receiver has not accepted yet. */
export const pendingOfReplay: Query<{ readonly replayId: string }, number> = async (reads, { replayId }) =>
  (await reads.figures<{ total: number }>(COUNT, [replayId]))?.total ?? 0;
