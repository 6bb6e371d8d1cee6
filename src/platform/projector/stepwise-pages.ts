import type pg from 'pg';
import type { Logger } from 'pino';
import { isRefusal } from '../database/refusal.ts';
import { settleAll, transaction } from '../database/transaction.ts';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { FoldFailure } from './working-set.ts';
import type { MemberEvents, LaneMember } from './lane-member.ts';
import type { DeadLetters } from './dead-letters.ts';

export interface StepServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetters;
  readonly log: Logger;
}

/** Streams of the page were just parked; fold the page again without them. */
export class FoldAgain extends Error {}

/** A model that halts must stop right before the poisoned event. Earlier events of the page have to be folded first. */
export class NarrowPage extends Error {}

export class ModelsHalted extends Error {
  readonly members: readonly { member: LaneMember; poison: FoldFailure }[];
  constructor(members: readonly { member: LaneMember; poison: FoldFailure }[]) {
    super('a security-critical read model met an event that it cannot fold');
    this.members = members;
  }
}

/**
 * Writes a page that may need loading and parking: rows are loaded, events that a model cannot fold are parked, all
 * in one transaction. With `narrow`, the page is one event, and a database refusal counts as that event's fault.
 * Throws `FoldAgain`, `NarrowPage`, `ModelsHalted` and `LeaseLost`; then nothing is written, and the caller must call
 * `forget` on the projections.
 */
export async function writePageStepwise(
  services: StepServices,
  concerned: readonly MemberEvents[],
  to: Position,
  narrow: boolean,
): Promise<void> {
  const { pool, checkpoints } = services;
  const halted: { member: LaneMember; poison: FoldFailure }[] = [];
  const moved = concerned.map(({ member: { checkpoint, saved } }) => ({ checkpoint, from: saved, to }));
  const written: Promise<unknown>[] = [];
  const fold = async (client: pg.PoolClient) => {
    const foldFor = async (one: MemberEvents) => {
      const poison = await foldOrPark(services, client, one, narrow, written);
      if (poison) halted.push({ member: one.member, poison });
    };
    if (narrow) {
      // A narrow page uses savepoints, and those of two models must not interleave.
      for (const one of concerned) await foldFor(one);
    } else {
      const folding = settleAll(concerned.map(foldFor));
      // A failed write of one model may be the reason why another could not park.
      await folding.catch(async (error) => settleAll([...written, Promise.reject(error)]));
    }
    if (halted.length > 0) throw new ModelsHalted(halted);
  };
  await transaction(pool, fold, (client) => settleAll([...written, checkpoints.advance(client, moved)]));
}

/**
 * Folds for one model and parks the events that it cannot fold. Returns the poisoned event if the model must halt
 * instead.
 */
async function foldOrPark(
  { deadLetters, log }: StepServices,
  client: pg.PoolClient,
  { member, mine }: MemberEvents,
  narrow: boolean,
  written: Promise<unknown>[],
): Promise<FoldFailure | undefined> {
  const flowing: RecordedEvent[] = [];
  for (const event of mine) {
    const parked = member.parked.get(event.stream);
    if (parked && event.position >= parked.from)
      await deadLetters.park(client, member.checkpoint, event, parked.reason);
    else flowing.push(event);
  }
  const poisoned =
    narrow && flowing.length === 1
      ? await foldOne(client, member, flowing[0]!)
      : await foldAll(client, member, flowing, written);
  if (poisoned.length === 0) return undefined;
  if (member.projection.model.onFoldFailure === 'halt') {
    if (!narrow && mine.length > 1) throw new NarrowPage();
    return poisoned[0];
  }
  for (const { event, error } of poisoned) {
    log.error(
      { model: member.checkpoint.name, stream: event.stream, position: String(event.position), reason: error.message },
      'a stream was parked',
    );
    // Record only the first error: later failures of the stream follow from the missing event.
    const known = member.parked.get(event.stream);
    if (!known || event.position < known.from)
      member.parked.set(event.stream, { from: event.position, reason: error.message });
  }
  // Later events of a newly parked stream were folded despite the missing one. Folding the page again undoes that.
  throw new FoldAgain();
}

async function foldAll(
  client: pg.PoolClient,
  { projection }: LaneMember,
  events: readonly RecordedEvent[],
  written: Promise<unknown>[],
): Promise<FoldFailure[]> {
  const folded = await projection.fold(client, events);
  written.push(folded.written);
  return folded.poisoned;
}

/** A refusal by the database counts as the event's own fault, like a fold that throws. */
async function foldOne(
  client: pg.PoolClient,
  { projection }: LaneMember,
  event: RecordedEvent,
): Promise<FoldFailure[]> {
  try {
    await client.query('savepoint one_event');
    return await projection.apply(client, [event]);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query('rollback to savepoint one_event');
    return [{ event, error: error as Error }];
  }
}
