import type pg from 'pg';
import type { Logger } from 'pino';
import { isRefusal } from '../database/refusal.ts';
import { transaction } from '../database/transaction.ts';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { LaneMember } from './lane-member.ts';
import type { DeadLetters } from './dead-letters.ts';

interface RetryServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetters;
  readonly subscription: CatchUpSubscription;
  readonly log: Logger;
  /** False after a doubt about the log: what was read may be of another one. */
  isCurrent(): boolean;
}

/**
 * Folds parked streams again at an operator's request. Each stream is separate, so one that fails again does not hold
 * up others.
 */
export async function retryDeadLetters(member: LaneMember, services: RetryServices): Promise<void> {
  const positions = new Map<string, Position[]>();
  for (const { stream, position } of await services.deadLetters.retriesOf(member.checkpoint)) {
    positions.set(stream, [...(positions.get(stream) ?? []), position]);
  }
  for (const [stream, waiting] of positions) await retryStream(member, services, stream, waiting);
}

async function retryStream(
  member: LaneMember,
  { deadLetters, pool, checkpoints, subscription, log, isCurrent }: RetryServices,
  stream: string,
  waiting: readonly Position[],
): Promise<void> {
  const events = await eventsAt(member, subscription, waiting);
  if (!isCurrent()) return;
  const to = member.position;
  try {
    await transaction(pool, async (client) => {
      const [poison] = await member.projection.apply(client, events);
      if (poison) throw new StillPoisoned(poison.error.message);
      await deadLetters.unpark(client, member.checkpoint, stream);
      await checkpoints.advance(client, [{ checkpoint: member.checkpoint, from: member.saved, to }]);
    });
  } catch (error) {
    member.projection.forget();
    if (!(error instanceof StillPoisoned) && !isRefusal(error)) throw error;
    return deadLetters.keepParked(member.checkpoint, stream, (error as Error).message);
  }
  member.saved = to;
  member.projection.committed();
  member.parked.delete(stream);
  log.info({ model: member.checkpoint.name, stream, events: events.length }, 'a parked stream was folded');
}

async function eventsAt(
  { projection }: LaneMember,
  tail: CatchUpSubscription,
  positions: readonly Position[],
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (const position of positions) {
    const event = await tail.eventAt(position);
    if (event && projection.wants(event.type)) events.push(event);
  }
  return events;
}

/** The retry failed with the error that had parked the stream, or with another one. */
class StillPoisoned extends Error {}
