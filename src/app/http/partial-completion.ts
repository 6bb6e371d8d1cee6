import { temporarilyUnavailable, FailureError } from '../../platform/kernel/failure.ts';

/** The store failed in the middle of a bulk request: 503, with a report beside `error`. A retry resumes the work. */
export class PartialCompletion extends FailureError {
  readonly report: object;

  constructor(report: object) {
    super(temporarilyUnavailable());
    this.name = 'PartialCompletion';
    this.report = report;
  }
}
