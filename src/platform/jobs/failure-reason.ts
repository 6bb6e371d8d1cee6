import { FailureError } from '../kernel/failure.ts';
import { JobFailed } from './job.ts';

const WORD = /^\w{1,60}$/;
const OUR_FRAME = /\/((?:src|commands|queries|projections)\/[\w./-]+:\d+):\d+\)?$/m;

/**
 * The reason of a failure, for storage and logs. The message of an arbitrary error may quote a password, a token or
 * an external response. So for such an error only its name, its code and the place in our source are kept.
 */
export function failureReason(error: unknown): string {
  if (error instanceof JobFailed || error instanceof FailureError) return error.message;
  if (!(error instanceof Error)) return 'failed for an unknown reason';
  const code = (error as { code?: unknown }).code;
  const place = OUR_FRAME.exec(error.stack ?? '')?.[1];
  return [
    WORD.test(error.name) ? error.name : 'Error',
    typeof code === 'string' && WORD.test(code) ? code : '',
    place ? `at ${place}` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
