import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { FoldFailure } from './working-set.ts';
import type { ReactionPage } from './reaction-page.ts';
import { failureClassOf } from './failure-class.ts';
import type { TableRow } from './table.ts';

/** One tenant's events from a part of the log, in log order. */
export interface TenantBatch {
  readonly tenantId: TenantId;
  readonly flowing: ReactionPage;
  /** Events of streams that are parked: they are parked too. */
  readonly behind: readonly RecordedEvent[];
  /** The batch begins after this position. */
  readonly from: Position;
  /** The last position of the batch. */
  readonly to: Position;
}

/** An event to be parked. Without an error it waits behind one that has one. */
export interface DeadLetter {
  readonly event: RecordedEvent;
  readonly error?: string;
}

/** How far a batch was worked, and what has to be written for it. */
export interface ProcessedBatch {
  readonly tenantId: TenantId;
  /** The events that were worked. */
  readonly page: ReactionPage;
  readonly parked: readonly DeadLetter[];
  /**
   * All events of the tenant up to here are worked or parked. Always a position read from the log, never a computed
   * one.
   */
  readonly reached: Position;
  /** A command has appended something, or did not say. */
  readonly hasActed: boolean;
  /** The batch is not worked to its end. */
  readonly isCut: boolean;
  /** Why it ended early, unless it reached a bound. */
  readonly interruption?: FoldFailure;
}

/** What a command that found nothing to do counts of a bound: it read a little, and appended nothing. */
const NEEDLESS = 0.1;

export interface BatchBounds {
  /** Effects that are run at most; of commands that find nothing to do, ten times as many. */
  readonly effects: number;
  /** Runs the first event to its end, however many effects it has. */
  readonly atLeastOne: boolean;
  readonly signal: AbortSignal;
  /** The effects of this event may have run before. Asked while they run. */
  readonly mayHaveRun: (event: RecordedEvent) => boolean;
}

/** The process stops between two effects. */
class Stopped extends Error {
  override readonly name = 'AbortError';
}

/**
 * Works the events of one tenant strictly one after the other, which keeps the order of their streams and shared rows
 * of state. Ends at the bound, before an event that failed, or after a poisoned event, which is parked.
 */
export async function processTenantBatch(
  { tenantId, flowing, behind, from, to }: TenantBatch,
  rows: readonly TableRow[],
  runner: EffectRunner,
  bounds: BatchBounds,
): Promise<ProcessedBatch> {
  const unfoldable = flowing.fold(rows);
  const { done, failed, hasActed } = await runEffects(flowing, unfoldable, runner, bounds);
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
    hasActed,
    isCut: reached < to,
    ...(failed && !poison ? { interruption: failed } : {}),
  };
}

/** Runs the effects of each event, until the bound or the first event that fails. `done` counts the finished events. */
async function runEffects(
  flowing: ReactionPage,
  unfoldable: FoldFailure | undefined,
  runner: EffectRunner,
  { effects, atLeastOne, signal, mayHaveRun }: BatchBounds,
): Promise<{ readonly done: number; readonly failed?: FoldFailure; readonly hasActed: boolean }> {
  let spent = 0;
  let hasActed = false;
  for (const [done, event] of flowing.events.entries()) {
    if (event === unfoldable?.event) return { done, failed: unfoldable, hasActed };
    const due = flowing.dueAt(done);
    const isFirst = spent === 0 && atLeastOne;
    if (spent + due.length > effects && !isFirst) return { done, hasActed };
    try {
      for (const one of due) {
        if (signal.aborted) throw new Stopped('stopped');
        const hasRun = await runner.run(one, () => mayHaveRun(event));
        hasActed ||= hasRun;
        spent += hasRun || 'job' in one.effect ? 1 : NEEDLESS;
      }
    } catch (error) {
      return { done, failed: { event, error: error as Error }, hasActed };
    }
  }
  return { done: flowing.events.length, hasActed };
}

/**
 * A fold has no outside dependency, so its error is about the event unless the database was unavailable. Effects get
 * more tries.
 */
function isPoison({ error }: FoldFailure, isFold: boolean): boolean {
  const setback = failureClassOf(error);
  return isFold ? setback !== 'outage' : setback === 'poison';
}

/** The last position before the next event that is passed. */
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
