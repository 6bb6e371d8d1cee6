import type { z } from 'zod';
import type { TenantId } from '../kernel/ids.ts';
import type { JobContract } from '../kernel/job.ts';

/**
 * The wait before the second, third, … attempt, in milliseconds. Either a list, whose last entry repeats, or a wait
 * that doubles from `firstMs` to `longestMs`. Half of the latter is random, so that jobs that failed together are
 * retried apart.
 */
export type Backoff = readonly number[] | { readonly firstMs: number; readonly longestMs: number };

/** What a handler gets besides the data. */
export interface JobContext {
  /** The same at every attempt, so that external services can recognize a repetition. */
  readonly id: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly tenantId: TenantId | undefined;
  /** The request or run that caused the job. */
  readonly correlationId: string;
  /** Aborted on timeout or when the process must end. Later results of the handler are ignored. */
  readonly signal: AbortSignal;
}

/**
 * A job without its handler: reactions, routes and schedules enqueue it by this declaration. Data is JSON without
 * secrets. It is checked when the job is enqueued and again when it runs, which may be after an upgrade.
 */
export interface JobDeclaration<Schema extends z.ZodType = z.ZodType> extends JobContract<Schema> {
  /** Total attempts, the first included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** An attempt that takes longer fails. Default: five minutes. */
  readonly timeoutMs?: number;
  /** Jobs of one lane share its workers. Slow or very frequent jobs get a lane of their own. Default: `default`. */
  readonly lane?: string;
}

/**
 * A declared job and its handler. Jobs run at least once: a handler recognizes a repetition by `context.id` or by its
 * own state.
 */
export interface JobDefinition<Schema extends z.ZodType = z.ZodType> extends JobDeclaration<Schema> {
  /** Resolves when done. An error causes a retry; a `JobFailed` carries a reason that may be stored. */
  handle(data: z.output<Schema>, context: JobContext): Promise<void>;
}

/**
 * Declare it as a module constant, because producers refer to it: `export const mailReport = declareJob({ name:
 * 'mail-report', … })`.
 */
export const declareJob = <const Schema extends z.ZodType>(job: JobDeclaration<Schema>): JobDeclaration<Schema> => job;

/** Adds the handler where its dependencies are available: `defineJob({ ...mailReport, handle: … })`. */
export const defineJob = <const Schema extends z.ZodType>(job: JobDefinition<Schema>): JobDefinition<Schema> => job;

// A handler takes its data as a parameter, so no narrower type holds every definition.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyJob = JobDefinition<any>;

export const DEFAULT_LANE = 'default';
export const DEFAULT_TIMEOUT_MS = 5 * 60_000;

/**
 * The reason of a failure, in fixed words. The message is stored with the job and shown to operators, so it must not
 * quote external data. `final` means that another attempt would not help.
 */
export class JobFailed extends Error {
  readonly final: boolean;

  constructor(reason: string, options: { readonly final?: boolean; readonly cause?: unknown } = {}) {
    super(reason, { cause: options.cause });
    this.name = 'JobFailed';
    this.final = options.final ?? false;
  }
}

/** Milliseconds from the failed attempt `attempt` (from 1) to the next. */
export function retryDelay(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  if (!('firstMs' in backoff)) return backoff[Math.min(attempt, backoff.length) - 1] ?? 0;
  const full = Math.min(backoff.firstMs * 2 ** (attempt - 1), backoff.longestMs);
  return Math.round((full * (1 + random())) / 2);
}
