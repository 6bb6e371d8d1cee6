import type pg from 'pg';
import type { Logger } from 'pino';
import { START, type Position, type RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { DeadLetters } from './dead-letters.ts';
import { ReactionPage } from './reaction-page.ts';
import type { ReactionLease } from './reaction-lease.ts';
import { failureClassOf } from './failure-class.ts';
import { processTenantBatch, type ProcessedBatch } from './tenant-batch.ts';

interface ParkedServices {
  readonly reaction: AnyReaction;
  readonly lease: ReactionLease;
  readonly subscription: CatchUpSubscription;
  readonly deadLetters: DeadLetters;
  readonly runner: EffectRunner;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Parked events per turn. Each is read from the log by itself. */
const AT_ONCE = 50;
const EFFECTS_AT_ONCE = 25;

/**
 * Works the next part of an operator's request for the tenant's parked streams. Returns false if there is no request.
 * Events to be skipped are released; the others are worked in order. The stream flows again once none of its events
 * waits.
 */
export async function processDeadLetterRequest(services: ParkedServices, tenantId: TenantId): Promise<boolean> {
  const { lease, deadLetters } = services;
  const stream = await deadLetters.askedStream(lease.checkpoint, tenantId);
  if (stream === undefined) return false;
  try {
    await workStream(services, tenantId, stream, AT_ONCE);
  } catch (error) {
    if (failureClassOf(error) === 'outage') throw error;
    // The database refused one of these events. Working one at a time shows which.
    await workStream(services, tenantId, stream, 1);
  }
  return true;
}

async function workStream(services: ParkedServices, tenantId: TenantId, stream: string, limit: number): Promise<void> {
  const { reaction, lease: term, subscription, deadLetters: parking, runner, log, signal } = services;
  const waiting = await parking.firstOf(term.checkpoint, stream, limit);
  const to = waiting.at(-1)!.position;
  const events = await eventsAt(
    subscription,
    waiting.filter(({ isSkipped }) => !isSkipped).map(({ position }) => position),
  );
  // Read while the log came into doubt: perhaps of another log.
  signal.throwIfAborted();
  const known = events.filter(({ type }) => (reaction.on as Record<string, unknown>)[type] !== undefined);
  const share = { tenantId, flowing: new ReactionPage(reaction, known), behind: [], from: START, to };
  const keepFrom = (from: Position, error: Error) => (client: pg.PoolClient) =>
    parking.keepFrom(client, term.checkpoint, stream, from, error.message);
  const nothing: ProcessedBatch = {
    tenantId,
    page: new ReactionPage(reaction, []),
    parked: [],
    reached: START,
    hasActed: false,
    isCut: false,
  };
  try {
    const worked = await processTenantBatch(share, await term.load(share.flowing.missing), runner, {
      effects: EFFECTS_AT_ONCE,
      atLeastOne: true,
      signal,
      // At least the first of them ran and failed.
      mayHaveRun: () => true,
    });
    const [poison] = worked.parked;
    // An event that fails here for its own reason has failed before. It stays parked without further tries.
    const failed =
      poison?.error !== undefined ? { event: poison.event, error: new Error(poison.error) } : worked.interruption;
    const stays = failed && failureClassOf(failed.error) !== 'outage';
    await term.passParked(
      { ...worked, parked: [] },
      stays
        ? keepFrom(failed.event.position, failed.error)
        : (client) => parking.release(client, term.checkpoint, stream, worked.reached),
    );
    if (stays)
      log.error(
        { reaction: reaction.name, stream, reason: failed.error.message },
        'a parked stream still cannot be worked',
      );
    else if (failed) throw failed.error;
  } catch (error) {
    if (limit > 1 || failureClassOf(error) === 'outage' || !known[0]) throw error;
    await term.passParked(nothing, keepFrom(known[0].position, error as Error));
  }
}

/** Expired events may be gone from the log. */
async function eventsAt(tail: CatchUpSubscription, positions: readonly Position[]): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (const position of positions) {
    const event = await tail.eventAt(position);
    if (event) events.push(event);
  }
  return events;
}
