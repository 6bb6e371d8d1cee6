import type { z } from 'zod';

/**
 * The part of a job's declaration that its producers need. Attempts, lane and handler are declared in
 * `src/platform/jobs/job.ts`.
 */
export interface JobContract<Schema extends z.ZodType = z.ZodType> {
  /** Lower case with hyphens, e.g. `deliver-notification`. */
  readonly name: string;
  readonly data: Schema;
}

declare const fits: unique symbol;

/** A job to enqueue, with data that matches it. Only `enqueue` creates one, so that no code names a job by a string. */
export interface JobRequest {
  readonly job: JobContract;
  readonly data: unknown;
  /** Phantom: `enqueue` has compared job and data. */
  readonly [fits]: true;
}

export const enqueue = <Schema extends z.ZodType>(
  job: JobContract<Schema>,
  data: z.input<NoInfer<Schema>>,
): JobRequest => {
  const request: Omit<JobRequest, typeof fits> = { job, data };
  return request as JobRequest;
};
