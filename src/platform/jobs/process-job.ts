import { UnrecoverableError, WaitingError, type Job } from 'bullmq';
import type { Logger } from 'pino';
import type { JobCatalogue, JobPayload } from './catalogue.ts';
import { inSpan } from '../observability/tracing.ts';
import { failureReason } from './failure-reason.ts';
import { DEFAULT_TIMEOUT_MS, JobFailed, type AnyJob, type JobContext } from './job.ts';
import { whenAborted } from '../kernel/when-aborted.ts';

export interface ProcessOptions {
  readonly catalogue: JobCatalogue;
  readonly log: Logger;
  /** Aborted when no more jobs may begin: a closing worker may still receive a job that it was fetching. */
  readonly draining: AbortSignal;
  /** Aborted when running jobs must be returned to the queue. */
  readonly givingBack: AbortSignal;
}

/** Runs one attempt at a job. Resolves when it is done; throws an error with the meaning that BullMQ gives it. */
export async function processJob(
  job: Job<JobPayload>,
  token: string | undefined,
  options: ProcessOptions,
): Promise<void> {
  const { catalogue, log, draining, givingBack } = options;
  if (draining.aborted) return giveBack(job, token);
  try {
    const definition = catalogue.named(job.name);
    // The job may belong to a newer build that is being rolled out, so retry it instead of failing it for good.
    if (!definition) throw new JobFailed('this build does not know the job');
    await inSpan(`job ${job.name}`, { 'castellan.kind': 'job', 'castellan.request_id': correlationOf(job) }, () =>
      attempt(definition, job, options),
    );
  } catch (error) {
    if (givingBack.aborted) return giveBack(job, token);
    const reason = failureReason(error);
    const about = {
      job: job.name,
      id: job.id,
      correlationId: correlationOf(job),
      attempt: job.attemptsMade + 1,
      reason,
    };
    const final = error instanceof JobFailed && error.final;
    if (final || isLast(job)) log.error(about, 'a job has failed');
    else log.warn(about, 'a job will be retried');
    throw final ? new UnrecoverableError(reason) : new JobFailed(reason);
  }
}

/** Returns the job to the queue for another process. This attempt does not count. */
async function giveBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

async function attempt(
  definition: AnyJob,
  job: Job<JobPayload>,
  { catalogue, givingBack }: ProcessOptions,
): Promise<void> {
  const timeoutMs = definition.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new JobFailed(`took longer than ${timeoutMs} ms`)), timeoutMs);
  const giveUp = () => control.abort(givingBack.reason);
  const stopWaiting = whenAborted(givingBack, giveUp);
  try {
    const context: JobContext = {
      id: job.id!,
      attempt: job.attemptsMade + 1,
      isLastAttempt: isLast(job),
      tenantId: job.data.tenantId ?? undefined,
      correlationId: correlationOf(job),
      signal: control.signal,
    };
    // A handler that ignores the signal is abandoned, not awaited.
    await Promise.race([definition.handle(catalogue.read(definition, job.data), context), aborted(control.signal)]);
  } finally {
    clearTimeout(timer);
    stopWaiting();
  }
}

const isLast = (job: Job): boolean => job.attemptsMade + 1 >= (job.opts.attempts ?? 1);

export const correlationOf = (job: Job<JobPayload>): string => job.data.correlationId ?? job.id!;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    whenAborted(signal, () => reject(signal.reason as Error));
  });
