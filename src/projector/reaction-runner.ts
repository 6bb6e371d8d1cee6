import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { system } from '../kernel/actor.ts';
import type { AnyCommand } from '../kernel/command.ts';
import type { Position, Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { isFailure } from '../kernel/failure.ts';
import type { AnyReaction, Effect } from '../kernel/reaction.ts';
import { settleAll, transaction } from '../database/transaction.ts';
import type { LogTrust } from '../eventstore/log-trust.ts';
import { derivedId, type Issuer } from '../execution/executor.ts';
import { LeaseLost, type Cursor, type Cursors } from './cursors.ts';
import type { FeedTail } from './feed-tail.ts';
import { WorkSet, type EventSteps, type RowStep } from './fold-batch.ts';
import { RowWriter } from './row-writer.ts';
import { createTable, tableName, type TableRow, type TableShape } from './table.ts';

/** So many failures in a row are no accident any more. */
const WORTH_TELLING = 3;
const PAGE = 500;
const IDLE_MS = 1_000;
/** A checkpoint that only passed by events of no concern is written once the feed is quiet this long, or with the lease: not every event costs a transaction. */
const QUIET_MS = 100;
/** Pages of events that concern a reaction begin at least this far apart: in a storm many are looked up and written together. */
const STRIDE_MS = 25;

/** What a reaction acts through. Jobs are enqueued inside the transaction that moves its checkpoint. */
export interface Effects {
  execute(command: AnyCommand, input: unknown, issuer: Issuer): Promise<unknown>;
  enqueueWithin(client: pg.PoolClient, job: string, data: unknown, options: { id: string; tenantId: TenantId; correlationId: string }): Promise<void>;
}

interface Due {
  readonly effect: Effect;
  readonly event: Recorded;
  readonly id: string;
}

type ReactionStep =
  | { key: TableRow; react: (row: TableRow | undefined) => { row: TableRow | undefined; effects: readonly Effect[] } }
  | { effects: readonly Effect[] }
  | { purge: TableRow };

export interface ReactionServices {
  readonly pool: pg.Pool;
  readonly cursors: Cursors;
  readonly tail: FeedTail;
  readonly trust: LogTrust;
  readonly effects: Effects;
  readonly log: Logger;
  /** No other process works on this database: nobody else holds its leases, or looks at its checkpoints. */
  readonly alone: boolean;
}

/**
 * Follows the feed for one reaction. Commands run before the checkpoint moves and jobs with it, so after a crash an effect
 * may be asked for again, under the same id, but is never forgotten.
 */
export class ReactionRunner {
  readonly #reaction: AnyReaction;
  readonly #services: ReactionServices;
  readonly #shape: TableShape | undefined;
  readonly #writer: RowWriter | undefined;
  readonly #concerns: (type: string) => boolean;
  readonly #stop = new AbortController();
  #cursor: Cursor | undefined;
  #running: Promise<void> | undefined;
  #renewed = 0;
  #lastPage = 0;
  #unsaved = false;
  /** Where its checkpoint stands in the database, as far as this holder knows. */
  #saved: Position = 0n;
  /** What was known in another epoch of trust is not believed. */
  #epoch = 0;

  constructor(reaction: AnyReaction, services: ReactionServices) {
    this.#reaction = reaction;
    this.#services = services;
    this.#concerns = (type) => (reaction.on as Record<string, unknown>)[type] !== undefined;
    if (reaction.state) {
      const name = `${reaction.name.replaceAll('-', '_')}_state`;
      this.#shape = { name, columns: reaction.state.columns, key: reaction.state.key, indexes: [] };
      this.#writer = new RowWriter(this.#shape, tableName(name, reaction.state.version, 1));
    }
  }

  /** A reaction that is new here begins at the feed's present end: the past has been reacted to, or was not meant to be. */
  async prepare(): Promise<void> {
    const { cursors, tail } = this.#services;
    const { name, lane, state } = this.#reaction;
    const version = state?.version ?? 1;
    const shape = this.#shape;
    await cursors.ensure(
      { name, version, generation: 1, lane, kind: 'reaction', state: 'live', position: tail.head },
      async (client) => {
        if (shape) await client.query(createTable(shape, tableName(shape.name, version, 1)));
      },
    );
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#cursor) await this.#services.cursors.release([this.#cursor]).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { cursors, tail } = this.#services;
    const { name, state } = this.#reaction;
    let seize = this.#services.alone;
    let failures = 0;
    let blamed = false;
    while (!signal.aborted) {
      try {
        if (!(await this.#mayWork(signal))) continue;
        if (!this.#cursor) {
          [this.#cursor] = await cursors.acquire([{ name, version: state?.version ?? 1 }], ['live'], seize);
          seize = false;
          this.#saved = this.#cursor?.position ?? 0n;
          blamed = Boolean(this.#cursor?.failure);
          if (!this.#cursor) await sleep(IDLE_MS, undefined, { signal });
          continue;
        }
        const moved = await this.#step(this.#cursor);
        // Whoever had it before may have written down why it could not go on.
        if (blamed) await cursors.blame(this.#cursor, null);
        blamed = false;
        failures = 0;
        if (moved) continue;
        await tail.wait(this.#cursor.position, IDLE_MS, { signal, concerns: this.#concerns, pause: this.#hurries ? QUIET_MS : undefined });
        await this.#keepLease();
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        await this.#recover(error as Error, failures);
      }
    }
  }

  /** While the log is in doubt nothing happens. After a doubt, the checkpoint is read again. */
  async #mayWork(signal: AbortSignal): Promise<boolean> {
    const { trust } = this.#services;
    if (trust.epoch !== this.#epoch) {
      this.#epoch = trust.epoch;
      this.#cursor = undefined;
    }
    if (!trust.holds) await trust.changed(IDLE_MS, signal);
    return trust.holds;
  }

  async #recover(error: Error, failures: number): Promise<void> {
    if (!(error instanceof LeaseLost)) this.#services.log.error({ reaction: this.#reaction.name, reason: error.message }, 'a reaction will try again');
    const isNoAccident = failures % WORTH_TELLING === 0;
    if (isNoAccident) await this.#giveWay(error);
    this.#cursor = undefined;
    const wait = Math.min(100 * 2 ** failures, 10_000) * Math.random();
    const untilTaken = isNoAccident && !this.#services.alone ? 2 * IDLE_MS : 0;
    await sleep(Math.max(wait, untilTaken), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** What this process cannot do, another may. `/health` names it: what no process can do holds up everything behind it, and no retry will help. */
  async #giveWay(error: Error): Promise<void> {
    const { cursors, alone } = this.#services;
    if (!this.#cursor || error instanceof LeaseLost) return;
    await cursors.blame(this.#cursor, error.message).catch(() => undefined);
    if (!alone) await cursors.release([this.#cursor]).catch(() => undefined);
  }

  /** Renews the lease, and writes down how far the cursor has come past events that were none of this reaction's. */
  async #keepLease(): Promise<void> {
    const mayWait = !this.#hurries || !this.#services.tail.quietFor(QUIET_MS);
    if (mayWait && Date.now() - this.#renewed < IDLE_MS) return;
    this.#renewed = Date.now();
    const to = this.#cursor!.position;
    await this.#services.cursors.renew([{ cursor: this.#cursor!, from: this.#saved, to }]);
    this.#saved = to;
    this.#unsaved = false;
  }

  /** Its checkpoint is behind where others can see it. */
  get #hurries(): boolean {
    return this.#unsaved && !this.#services.alone;
  }

  /** One page; false when the feed ends here. */
  async #step(cursor: Cursor): Promise<boolean> {
    const { tail, pool, cursors, effects } = this.#services;
    const slice = await tail.read(cursor.position, PAGE);
    if (slice.position === cursor.position) return false;
    const on = this.#reaction.on as Record<string, ((event: Recorded) => readonly ReactionStep[]) | undefined>;
    const wanted = slice.events.filter(({ type }) => on[type]);
    const events = (await tail.decode(wanted)).filter((event) => event !== undefined);
    if (events.length === 0) return this.#passBy(cursor, slice.position);
    const untilNext = this.#lastPage + STRIDE_MS - Date.now();
    if (untilNext > 0 && slice.events.length < PAGE) {
      await sleep(untilNext, undefined, { signal: this.#stop.signal });
      return true;
    }
    this.#lastPage = Date.now();
    const due: Due[] = [];
    const batch = events.map((event) => ({ event, steps: this.#rowSteps(event, on[event.type]!(event), due) }));
    const work = new WorkSet(this.#shape?.key ?? []);
    await this.#load(work, batch);
    const [poison] = work.fold(batch);
    if (poison) throw poison.error;
    if (due.length === 0 && work.isClean) return this.#passBy(cursor, slice.position);
    // Effects of folds were added after all others; they happen in the order of their events.
    due.sort((a, b) => Number(a.event.position - b.event.position));
    for (const { effect, event, id } of due) {
      if (!('command' in effect)) continue;
      await this.#keepLease();
      await this.#runCommand(effect, event, id);
    }
    const act = async (client: pg.PoolClient) => {
      await this.#save(client, work);
      for (const { effect, id, event } of due) {
        if ('job' in effect) {
          const { tenantId, metadata } = event;
          await effects.enqueueWithin(client, effect.job, effect.data, { id, tenantId, correlationId: metadata.correlationId });
        }
      }
    };
    await transaction(pool, act, (client) => cursors.advance(client, [{ cursor, from: this.#saved, to: slice.position }]));
    this.#saved = slice.position;
    this.#cursor = { ...cursor, position: slice.position };
    this.#unsaved = false;
    return true;
  }

  /** Events that change nothing here need no transaction, and their checkpoint can wait: seen again after a crash, they change nothing again. */
  async #passBy(cursor: Cursor, position: Position): Promise<true> {
    this.#cursor = { ...cursor, position };
    this.#unsaved = true;
    await this.#keepLease();
    return true;
  }

  /** Steps as the work set folds them; effects fall into `due` in the order in which the folds run. */
  #rowSteps(event: Recorded, steps: readonly ReactionStep[], due: Due[]): RowStep[] {
    let count = 0;
    const add = (effects: readonly Effect[]) => {
      for (const effect of effects) due.push({ effect, event, id: derivedId(event.id, this.#reaction.name, count++) });
    };
    return steps.flatMap((step): RowStep[] => {
      if ('purge' in step) return [step];
      if (!('key' in step)) {
        add(step.effects);
        return [];
      }
      const fold = (row: TableRow | undefined) => {
        const answer = step.react(row);
        add(answer.effects);
        return answer.row;
      };
      return [{ key: step.key, fold }];
    });
  }

  async #load(work: WorkSet, batch: readonly EventSteps[]): Promise<void> {
    const keys = work.missing(batch);
    if (keys.length > 0 && this.#writer) work.admit(keys, await this.#writer.load(this.#services.pool, keys));
  }

  async #save(client: pg.PoolClient, work: WorkSet): Promise<void> {
    if (!this.#writer) return;
    await this.#writer.prepare(client);
    await settleAll(this.#writer.changes(work.changes()).map((statement) => client.query(statement)));
  }

  async #runCommand(effect: Extract<Effect, { command: AnyCommand }>, event: Recorded, id: string): Promise<void> {
    const { effects, log } = this.#services;
    const outcome = await effects.execute(effect.command, effect.input, {
      tenantId: event.tenantId,
      actor: system(this.#reaction.name),
      correlationId: event.metadata.correlationId,
      causationId: event.id,
      commandId: id,
    });
    if (!isFailure(outcome)) return;
    if (outcome.kind === 'unavailable') throw new Error(`${effect.command.name} could not run: ${outcome.message}`);
    // The state has moved on so that the effect is not wanted any more; a decision, not an accident.
    log.info({ reaction: this.#reaction.name, command: effect.command.name, reason: outcome.message }, 'a reaction was refused');
  }
}
