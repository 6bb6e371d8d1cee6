// A worker that starts a job and never ends it, for a test to kill: its one argument is the storage.
import { pino } from 'pino';
import { z } from 'zod';
import { defineJob } from '../../../src/platform/jobs/job.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';

const { lane, ...place } = JSON.parse(process.argv[2]!);
const greet = defineJob({
  name: 'greet',
  data: z.object({ who: z.string() }),
  attempts: 1,
  backoff: [10],
  lane,
  handle: ({ who }) => {
    process.stdout.write(`running greet for ${who}\n`);
    return new Promise(() => undefined);
  },
});
await openJobs({ ...place, jobs: [greet], log: pino({ level: 'silent' }) }).start();
