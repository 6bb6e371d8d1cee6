import type pg from 'pg';
import type { Checkpoint } from './checkpoints.ts';
import type { ReactionState } from './reaction-state.ts';

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;

/**
 * A new version of a reaction continues where the previous version stopped. Its checkpoint, backlogs and parked
 * events pass to the new cursor, in the transaction that creates it. The old cursor retires, so a process that still
 * holds its lease can move nothing. A version with state is not live yet: it must first fold that state from history
 * (`reaction-history.ts`).
 */
export async function handOverReactionState(
  client: pg.PoolClient,
  { name, version, generation }: Key,
  state: ReactionState,
): Promise<void> {
  const { rows } = await client.query<{ version: number; generation: number; position: string }>(
    `update cursors set state = 'retired', epoch = epoch + 1, leased_until = '-infinity'
      where name = $1 and version < $2 and kind = 'reaction' and state <> 'retired' returning version, generation, position::text`,
    [name, version],
  );
  const before = rows.toSorted((a, b) => b.version - a.version || b.generation - a.generation)[0];
  if (!before) return;
  const heir = [name, version, generation];
  await client.query(
    'update cursors set position = $4, filled_from = 0, state = $5 where name = $1 and version = $2 and generation = $3',
    [...heir, before.position, state.isKept ? 'filling' : 'live'],
  );
  for (const table of ['tenant_backlogs', 'parked_events']) {
    await client.query(
      `update ${table} set version = $2, generation = $3 where name = $1 and version = $4 and generation = $5`,
      [...heir, before.version, before.generation],
    );
  }
}
