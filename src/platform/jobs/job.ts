import type { z } from 'zod';
import type { TenantId } from '../kernel/ids.ts';
import type { JobContract } from '../kernel/job.ts';

/**
 * How long to wait before the second, third, … attempt, in milliseconds: a list, whose last entry holds from there on, or a
 * wait that doubles from `firstMs` to `longestMs`, half of it random, so that what failed together is not tried together.
 */
export type Backoff = readonly number[] | { readonly firstMs: number; readonly longestMs: number };

/** What a handler knows about its run beside the data. */
export interface JobContext {
  /** The same at every attempt: what the outside world may recognize a repetition by. */
  readonly id: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly tenantId: TenantId | undefined;
  /** The request or run that the job goes back to. */
  readonly correlationId: string;
  /** Aborted when the time is up or the process must end; what the handler does afterwards no longer counts. */
  readonly signal: AbortSignal;
}

/**
 * Work for later, without the part that does it: reactions, routes and schedules enqueue a job by its declaration.
 * Data is JSON without secrets. It is checked when the job is enqueued and again when it runs, which may be after an upgrade.
 */
export interface JobDeclaration<Schema extends z.ZodType = z.ZodType> extends JobContract<Schema> {
  /** In all, the first one included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** An attempt that takes longer has failed. Default: five minutes. */
  readonly timeoutMs?: number;
  /** Jobs of one lane share its workers: what is slow or comes in floods gets a lane of its own. Default: `default`. */
  readonly lane?: string;
}

/** A declared job and its handler. Jobs run at least once: a handler recognizes a repetition by `context.id` or by its own state. */
export interface JobDefinition<Schema extends z.ZodType = z.ZodType> extends JobDeclaration<Schema> {
  /** Resolves when done. Throws to be tried again; a `JobFailed` says why in words that are kept. */
  handle(data: z.output<Schema>, context: JobContext): Promise<void>;
}

/** A module constant, because producers name the job by it: `export const mailReport = declareJob({ name: 'mail-report', … })`. */
export const declareJob = <const Schema extends z.ZodType>(job: JobDeclaration<Schema>): JobDeclaration<Schema> => job;

/** Adds the handler, where its dependencies are known: `defineJob({ ...mailReport, handle: … })`. */
export const defineJob = <const Schema extends z.ZodType>(job: JobDefinition<Schema>): JobDefinition<Schema> => job;

// A handler takes its data as a parameter, so no narrower type holds every definition.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyJob = JobDefinition<any>;

export const DEFAULT_LANE = 'default';
export const DEFAULT_TIMEOUT_MS = 5 * 60_000;

/**
 * Why a job failed, in fixed words: the message is kept with the job and shown to operators, so it quotes nothing from
 * outside. `final` means that another attempt would not help.
 */
export class JobFailed extends Error {
  readonly final: boolean;

  constructor(reason: string, options: { readonly final?: boolean; readonly cause?: unknown } = {}) {
    super(reason, { cause: options.cause });
    this.name = 'JobFailed';
    this.final = options.final ?? false;
  }
}

/** Milliseconds between attempt `attempt` (from 1), which has failed, and the next. */
export function retryDelay(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  if (!('firstMs' in backoff)) return backoff[Math.min(attempt, backoff.length) - 1] ?? 0;
  const full = Math.min(backoff.firstMs * 2 ** (attempt - 1), backoff.longestMs);
  return Math.round((full * (1 + random())) / 2);
}
