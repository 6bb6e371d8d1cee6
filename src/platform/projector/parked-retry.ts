import type pg from 'pg';
import type { Logger } from 'pino';
import { isRefusal } from '../database/refusal.ts';
import { transaction } from '../database/transaction.ts';
import type { Position, Recorded } from '../kernel/event.ts';
import type { Cursors } from './cursors.ts';
import type { FeedTail } from './feed-tail.ts';
import type { Member } from './member.ts';
import type { Parking } from './parking.ts';

interface RetryServices {
  readonly pool: pg.Pool;
  readonly cursors: Cursors;
  readonly parking: Parking;
  readonly tail: FeedTail;
  readonly log: Logger;
}

/**
 * Folds parked streams again where an operator asked. Each stream on its own: one that is still poisonous keeps nobody else
 * waiting.
 */
export async function retryParked(member: Member, services: RetryServices): Promise<void> {
  const positions = new Map<string, Position[]>();
  for (const { stream, position } of await services.parking.retriesOf(member.cursor)) {
    positions.set(stream, [...(positions.get(stream) ?? []), position]);
  }
  for (const [stream, waiting] of positions) await retryStream(member, services, stream, waiting);
}

async function retryStream(
  member: Member,
  { parking, pool, cursors, tail, log }: RetryServices,
  stream: string,
  waiting: readonly Position[],
): Promise<void> {
  const events = await eventsAt(member, tail, waiting);
  const to = member.position;
  try {
    await transaction(pool, async (client) => {
      const [poison] = await member.projection.apply(client, events);
      if (poison) throw new StillPoisoned(poison.error.message);
      await parking.unpark(client, member.cursor, stream);
      await cursors.advance(client, [{ cursor: member.cursor, from: member.saved, to }]);
    });
  } catch (error) {
    member.projection.forget();
    if (!(error instanceof StillPoisoned) && !isRefusal(error)) throw error;
    return parking.keepParked(member.cursor, stream, (error as Error).message);
  }
  member.saved = to;
  member.projection.committed();
  member.parked.delete(stream);
  log.info({ model: member.cursor.name, stream, events: events.length }, 'a parked stream was folded');
}

async function eventsAt({ projection }: Member, tail: FeedTail, positions: readonly Position[]): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (const position of positions) {
    const event = await tail.eventAt(position);
    if (event && projection.wants(event.type)) events.push(event);
  }
  return events;
}

/** The operator's retry met what had parked the stream. */
class StillPoisoned extends Error {}
