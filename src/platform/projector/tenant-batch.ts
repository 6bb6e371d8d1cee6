import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { FoldFailure } from './working-set.ts';
import type { ReactionPage } from './reaction-page.ts';
import { failureClassOf } from './failure-class.ts';
import type { TableRow } from './table.ts';

/** What a stretch of the feed holds for one tenant, in its order. */
export interface TenantBatch {
  readonly tenantId: TenantId;
  readonly flowing: ReactionPage;
  /** Events of streams that are parked: they are parked behind what waits there. */
  readonly behind: readonly RecordedEvent[];
  /** Where the stretch begins: behind this position. */
  readonly from: Position;
  /** The end of the stretch. */
  readonly to: Position;
}

/** An event to be parked; without an error it only waits behind one. */
export interface DeadLetter {
  readonly event: RecordedEvent;
  readonly error?: string;
}

/** How far a share was worked, and what has to be written for that. */
export interface ProcessedBatch {
  readonly tenantId: TenantId;
  /** Of the events that were worked. */
  readonly page: ReactionPage;
  readonly parked: readonly DeadLetter[];
  /** Everything of the tenant up to here is worked or parked. A position that the feed gave out, never a computed one. */
  readonly reached: Position;
  /** The stretch is not worked to its end. */
  readonly isCut: boolean;
  /** Why it was left there, where that was no bound. */
  readonly interruption?: FoldFailure;
}

export interface BatchBounds {
  /** Most effects that are run. */
  readonly effects: number;
  /** Runs the first event to its end, however many effects it asks for. */
  readonly atLeastOne: boolean;
  readonly signal: AbortSignal;
}

/** A stop was asked for between two effects. */
class Stopped extends Error {
  override readonly name = 'AbortError';
}

/**
 * Works the events of one tenant, strictly one after the other: their streams and the rows of state that they share keep their
 * order. It ends at the bound, before an event that failed, or behind an event that is poison, which is parked.
 */
export async function processTenantBatch(
  { tenantId, flowing, behind, from, to }: TenantBatch,
  rows: readonly TableRow[],
  runner: EffectRunner,
  bounds: BatchBounds,
): Promise<ProcessedBatch> {
  const unfoldable = flowing.fold(rows);
  const { done, failed } = await runEffects(flowing, unfoldable, runner, bounds);
  const poison = failed && isPoison(failed, failed === unfoldable) ? failed : undefined;
  const next = flowing.events[done];
  const reached = poison?.event.position ?? (next ? (lastBefore(next, flowing.events[done - 1], behind) ?? from) : to);
  return {
    tenantId,
    page: flowing.first(done),
    parked: [
      ...behind.filter(({ position }) => position <= reached).map((event) => ({ event })),
      ...(poison ? [{ event: poison.event, error: poison.error.message }] : []),
    ],
    reached,
    isCut: reached < to,
    ...(failed && !poison ? { interruption: failed } : {}),
  };
}

/** Runs what each event asks for, until the bound or the first event that fails. `done` counts the events that are finished. */
async function runEffects(
  flowing: ReactionPage,
  unfoldable: FoldFailure | undefined,
  runner: EffectRunner,
  { effects, atLeastOne, signal }: BatchBounds,
): Promise<{ readonly done: number; readonly failed?: FoldFailure }> {
  let spent = 0;
  for (const [done, event] of flowing.events.entries()) {
    if (event === unfoldable?.event) return { done, failed: unfoldable };
    const due = flowing.dueAt(done);
    const isFirst = spent === 0 && atLeastOne;
    if (spent + due.length > effects && !isFirst) return { done };
    spent += due.length;
    try {
      for (const one of due) {
        if (signal.aborted) throw new Stopped('stopped');
        await runner.run(one);
      }
    } catch (error) {
      return { done, failed: { event, error: error as Error } };
    }
  }
  return { done: flowing.events.length };
}

/** A fold reaches nothing outside, so its error is about the event unless the database was away. Effects get more tries. */
function isPoison({ error }: FoldFailure, isFold: boolean): boolean {
  const setback = failureClassOf(error);
  return isFold ? setback !== 'outage' : setback === 'poison';
}

/** The last position that is passed when the next event is not. */
function lastBefore(
  next: RecordedEvent,
  done: RecordedEvent | undefined,
  behind: readonly RecordedEvent[],
): Position | undefined {
  const passed = behind.findLast(({ position }) => position < next.position);
  return done && passed
    ? done.position > passed.position
      ? done.position
      : passed.position
    : (done ?? passed)?.position;
}
