import type pg from 'pg';
import type { Logger } from 'pino';
import { isRefusal } from '../database/refusal.ts';
import { settleAll, transaction } from '../database/transaction.ts';
import type { Position, Recorded } from '../kernel/event.ts';
import type { Cursors } from './cursors.ts';
import type { Poisoned } from './fold-batch.ts';
import type { Concerned, Member } from './member.ts';
import type { Parking } from './parking.ts';

export interface StepServices {
  readonly pool: pg.Pool;
  readonly cursors: Cursors;
  readonly parking: Parking;
  readonly log: Logger;
}

/** A page was folded with streams in it that are parked now; the next round leaves them out. */
export class FoldAgain extends Error {}

/** A model that halts stops right before its poison: what comes earlier on the page has to be folded first. */
export class NarrowDown extends Error {}

export class Halted extends Error {
  readonly members: readonly { member: Member; poison: Poisoned }[];
  constructor(members: readonly { member: Member; poison: Poisoned }[]) {
    super('a security-critical read model met an event that it cannot fold');
    this.members = members;
  }
}

/**
 * A page whatever it takes: rows are loaded, what a model cannot take is parked, all in one transaction. `narrow`: the page is one
 * event, and what the database refuses is that event's fault. Throws `FoldAgain`, `NarrowDown`, `Halted` and `LeaseLost`; nothing
 * is written then, and the projections are to forget everything.
 */
export async function writeInSteps(
  services: StepServices,
  concerned: readonly Concerned[],
  to: Position,
  narrow: boolean,
): Promise<void> {
  const { pool, cursors } = services;
  const halted: { member: Member; poison: Poisoned }[] = [];
  const moved = concerned.map(({ member: { cursor, saved } }) => ({ cursor, from: saved, to }));
  const written: Promise<unknown>[] = [];
  const fold = async (client: pg.PoolClient) => {
    const foldFor = async (one: Concerned) => {
      const poison = await foldOrPark(services, client, one, narrow, written);
      if (poison) halted.push({ member: one.member, poison });
    };
    if (narrow) {
      // One event at a time has savepoints, and those of two models must not interleave.
      for (const one of concerned) await foldFor(one);
    } else {
      const folding = settleAll(concerned.map(foldFor));
      // What one model could not write may be why another could not park.
      await folding.catch(async (error) => settleAll([...written, Promise.reject(error)]));
    }
    if (halted.length > 0) throw new Halted(halted);
  };
  await transaction(pool, fold, (client) => settleAll([...written, cursors.advance(client, moved)]));
}

/** Folds for one model, parking what it cannot take. Answers the poison when the model must halt instead. */
async function foldOrPark(
  { parking, log }: StepServices,
  client: pg.PoolClient,
  { member, mine }: Concerned,
  narrow: boolean,
  written: Promise<unknown>[],
): Promise<Poisoned | undefined> {
  const flowing: Recorded[] = [];
  for (const event of mine) {
    const parked = member.parked.get(event.stream);
    if (parked && event.position >= parked.from) await parking.park(client, member.cursor, event, parked.reason);
    else flowing.push(event);
  }
  const poisoned =
    narrow && flowing.length === 1
      ? await foldOne(client, member, flowing[0]!)
      : await foldAll(client, member, flowing, written);
  if (poisoned.length === 0) return undefined;
  if (member.projection.model.whenPoisoned === 'halt') {
    if (!narrow && mine.length > 1) throw new NarrowDown();
    return poisoned[0];
  }
  for (const { event, error } of poisoned) {
    log.error(
      { model: member.cursor.name, stream: event.stream, position: String(event.position), reason: error.message },
      'a stream was parked',
    );
    // The first is what went wrong; what failed behind it only stood on a hole.
    const known = member.parked.get(event.stream);
    if (!known || event.position < known.from)
      member.parked.set(event.stream, { from: event.position, reason: error.message });
  }
  // Later events of a stream that has just been parked were folded on top of a hole: undo by folding the page again.
  throw new FoldAgain();
}

async function foldAll(
  client: pg.PoolClient,
  { projection }: Member,
  events: readonly Recorded[],
  written: Promise<unknown>[],
): Promise<Poisoned[]> {
  const folded = await projection.fold(client, events);
  written.push(folded.written);
  return folded.poisoned;
}

/** A refusal by the database is the event's own fault, like a fold that throws. */
async function foldOne(client: pg.PoolClient, { projection }: Member, event: Recorded): Promise<Poisoned[]> {
  try {
    await client.query('savepoint one_event');
    return await projection.apply(client, [event]);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query('rollback to savepoint one_event');
    return [{ event, error: error as Error }];
  }
}
