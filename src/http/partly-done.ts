import { FailureError, unavailable } from '../kernel/failure.ts';

/** A failover or a restart takes seconds. */
const RETRY_AFTER_SECONDS = 2;

/** The store ended work of many parts half-way: 503, and beside `error` what was done and what was not. The same request goes on from there. */
export class PartlyDone extends FailureError {
  readonly report: object;

  constructor(report: object) {
    super({ ...unavailable(), retryAfterSeconds: RETRY_AFTER_SECONDS });
    this.name = 'PartlyDone';
    this.report = report;
  }
}
