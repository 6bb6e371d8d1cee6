import type pg from 'pg';
import type { Logger } from 'pino';
import { system } from '../kernel/actor.ts';
import type { AnyCommand } from '../kernel/command.ts';
import { isFailure, type FailureKind } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { JobRequest } from '../kernel/job.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { DueEffect } from './reaction-page.ts';
import { EffectRefused, EffectUnavailable } from './failure-class.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';

/** The ports of a reaction. Jobs are enqueued inside the transaction that moves its checkpoint. */
export interface EffectPorts {
  execute(command: AnyCommand, input: unknown, execution: ExecutionContext): Promise<unknown>;
  enqueueWithin(
    client: pg.PoolClient,
    request: JobRequest,
    options: { id: string; tenantId: TenantId; correlationId: string },
  ): Promise<void>;
  /** The job would find nothing to do now, so it is not enqueued. */
  isNeedless?(request: JobRequest): Promise<boolean>;
}

/** An effect that is a job. */
export type DueJob = DueEffect & { readonly effect: JobRequest };

/** The event asks for something impossible. Its effect would be lost without a trace. */
const POISON: readonly FailureKind[] = ['invalid', 'tooLarge'];
const LATER: readonly FailureKind[] = ['unavailable', 'limited'];

/** Runs the effects of one reaction. All tenants share its slots; each tenant runs one at a time. */
export class EffectRunner {
  readonly #reaction: string;
  readonly #effects: EffectPorts;
  readonly #limiter: ConcurrencyLimiter;
  readonly #log: Logger;

  constructor(reaction: string, effects: EffectPorts, limiter: ConcurrencyLimiter, log: Logger) {
    this.#reaction = reaction;
    this.#effects = effects;
    this.#limiter = limiter;
    this.#log = log;
  }

  /**
   * Runs a command; jobs are enqueued with the checkpoint. Returns false if there was nothing to do: run again after a
   * crash, it again changes nothing. So does a command that `mayHaveRun` before, and did. Throws `EffectRefused`,
   * `EffectUnavailable`, and the command's own errors.
   */
  async run({ effect, event, id }: DueEffect, mayHaveRun: () => boolean): Promise<boolean> {
    if (!('command' in effect)) return false;
    const execution: ExecutionContext = {
      tenantId: event.tenantId,
      actor: system(this.#reaction),
      correlationId: event.metadata.correlationId,
      causationId: event.id,
      commandId: id,
      repetition: { mayHaveRun, behind: event.position },
    };
    const outcome = await this.#limiter.run(() => this.#effects.execute(effect.command, effect.input, execution));
    if (!isFailure(outcome)) return !isUnchanged(outcome);
    if (LATER.includes(outcome.kind)) throw new EffectUnavailable(effect.command.name, outcome);
    if (POISON.includes(outcome.kind)) throw new EffectRefused(effect.command.name, outcome);
    // The state has moved on, so the effect is no longer wanted. This is a decision, not a failure.
    this.#log.info(
      { reaction: this.#reaction, command: effect.command.name, reason: outcome.message },
      'a reaction was refused',
    );
    return false;
  }

  /** The jobs among these effects, without those that would find nothing to do. */
  async jobsOf(due: readonly DueEffect[]): Promise<readonly DueJob[]> {
    const jobs: DueJob[] = [];
    for (const one of due) if (isJob(one) && !(await this.#effects.isNeedless?.(one.effect))) jobs.push(one);
    return jobs;
  }

  async enqueue(client: pg.PoolClient, jobs: readonly DueJob[]): Promise<void> {
    for (const { effect, id, event } of jobs) {
      const { tenantId, metadata } = event;
      await this.#effects.enqueueWithin(client, effect, {
        id,
        tenantId,
        correlationId: metadata.correlationId,
      });
    }
  }
}

const isJob = (due: DueEffect): due is DueJob => 'job' in due.effect;

/** A result that names no position: the command appended nothing. */
const isUnchanged = (outcome: unknown): boolean =>
  typeof outcome === 'object' && outcome !== null && 'position' in outcome && outcome.position === undefined;
