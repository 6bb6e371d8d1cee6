import { describe } from 'vitest';
import { jobsBench, type JobsServer } from './jobs/bench.ts';
import { failing } from './jobs/failing.ts';
import { processes } from './jobs/processes.ts';
import { running } from './jobs/running.ts';
import { schedules } from './jobs/schedules.ts';
import { transactions } from './jobs/transactions.ts';

/** The contract of every job storage. */
export function jobsContract(place: string, startServer: () => Promise<JobsServer>): void {
  describe(`jobs on ${place}`, () => {
    const bench = jobsBench(startServer);
    running(bench);
    failing(bench);
    transactions(bench);
    processes(bench);
    schedules(bench);
  });
}
