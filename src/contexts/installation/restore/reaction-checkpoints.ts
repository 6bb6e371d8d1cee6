import type pg from 'pg';
import type { Position } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { refoldReaction, type RefoldParts } from '../../../platform/projector/refold-reaction.ts';
import { reactions } from '../../reactions.ts';
import { transaction } from '../../../platform/database/transaction.ts';

interface Live {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
  readonly position: Position;
}

/**
 * How far reactions count as having processed the log: up to their own checkpoints (at most to its end), or all of it.
 */
export type ProcessedUpTo = 'what they had' | 'everything';

/** In the order in which leases lock them (`lease-acquisitions.ts`): processes that show a log in doubt take leases meanwhile. */
const LIVE = `select name, version, generation, position::text from cursors where kind = 'reaction' and state <> 'retired' order by 1, 2, 3`;
const OF = 'name = $1 and version = $2 and generation = $3';

/**
 * Adjusts reactions to the log without carrying out any effects. Their state is refolded, and all checkpoints move
 * together at the end. If interrupted before that, everything can be repeated.
 */
export async function moveReactionCheckpoints(parts: RefoldParts, end: Position, worked: ProcessedUpTo): Promise<void> {
  const moves: (Live & { readonly to: Position })[] = [];
  for (const cursor of await liveReactions(parts.pool)) {
    const reaction = reactions.find(({ name }) => name === cursor.name);
    const to = worked === 'everything' || cursor.position > end ? end : cursor.position;
    if (reaction)
      await refoldReaction(parts, reaction, {
        upTo: to,
        behind: worked === 'everything' ? new Map() : await backlogsOf(parts.pool, cursor, to),
        parked: await parkedOf(parts.pool, cursor),
      });
    moves.push({ ...cursor, to });
  }
  await transaction(parts.pool, async (client) => {
    for (const { name, version, generation, to } of moves) {
      const key = [name, version, generation];
      await client.query(
        `update cursors set position = $4, state = 'live', epoch = epoch + 1, leased_until = '-infinity', failure = null where ${OF}`,
        [...key, String(to)],
      );
      await client.query(`delete from tenant_backlogs where ${OF} and ($5 or position >= $4)`, [
        ...key,
        String(to),
        worked === 'everything',
      ]);
      await client.query(`delete from parked_events where ${OF} and position > $4`, [...key, String(to)]);
    }
    await limitForwarding(client, end);
  });
}

/**
 * Destinations go on where they were, but not after the end of the log: later events will have those positions. What was
 * refused there is not in this log.
 */
async function limitForwarding(client: pg.PoolClient, end: Position): Promise<void> {
  await client.query('update log_forwarding_lease set epoch = epoch + 1');
  await client.query(
    `update log_forwarding set position = least(position, $1), counted_to = least(position, $1), lag_events = 0
      where greatest(position, counted_to) > $1`,
    [String(end)],
  );
  await client.query('delete from log_refused_records where position > $1', [String(end)]);
}

async function liveReactions(pool: pg.Pool): Promise<Live[]> {
  const { rows } = await pool.query<Omit<Live, 'position'> & { position: string }>(LIVE);
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }));
}

async function backlogsOf(
  pool: pg.Pool,
  { name, version, generation }: Live,
  to: Position,
): Promise<Map<TenantId, Position>> {
  const { rows } = await pool.query<{ tenant_id: TenantId; position: string }>(
    `select tenant_id, position::text from tenant_backlogs where ${OF} and position < $4`,
    [name, version, generation, String(to)],
  );
  return new Map(rows.map((row) => [row.tenant_id, BigInt(row.position)]));
}

async function parkedOf(pool: pg.Pool, { name, version, generation }: Live): Promise<Set<Position>> {
  const { rows } = await pool.query<{ position: string }>(`select position::text from parked_events where ${OF}`, [
    name,
    version,
    generation,
  ]);
  return new Set(rows.map(({ position }) => BigInt(position)));
}
