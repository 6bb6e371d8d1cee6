import { temporarilyUnavailable, FailureError } from '../../platform/kernel/failure.ts';

/** The store ended work of many parts half-way: 503, and beside `error` what was done and what was not. The same request goes on from there. */
export class PartialCompletion extends FailureError {
  readonly report: object;

  constructor(report: object) {
    super(temporarilyUnavailable());
    this.name = 'PartialCompletion';
    this.report = report;
  }
}
