import { createPostgresBackend, Queue } from 'bullmq';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { storedOptions } from '../../../src/platform/jobs/backend.ts';
import { defineJob } from '../../../src/platform/jobs/job.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';
import { migrateJobs, SCHEMA } from '../../../src/platform/jobs/postgres/schema.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';

describe('the jobs in PostgreSQL', () => {
  let database: FreshDatabase;
  let owner: pg.Pool;
  beforeAll(async () => {
    database = await freshDatabase();
    owner = new pg.Pool(database.config);
  });
  afterAll(async () => {
    await owner.end();
    await database.drop();
  });

  const greet = defineJob({
    name: 'greet',
    data: z.object({ who: z.string() }),
    attempts: 3,
    backoff: [10],
    handle: async () => undefined,
  });

  it.each([0, 60_000])('are stored as BullMQ itself stores them (delay %i ms)', async (delayMs) => {
    const jobs = openJobs({ config: database.config, jobs: [greet], log: pino({ level: 'silent' }) });
    await jobs.enqueue(greet, { who: 'Ada' }, { id: `ours-${delayMs}`, delayMs });
    await jobs.close();
    const connection = { ...database.config, schema: SCHEMA } as Record<string, unknown>;
    const queue = new Queue('default', { connection }, createPostgresBackend);
    const payload = { tenantId: null, correlationId: null, data: { who: 'Ada' } };
    const id = `greet/theirs-${delayMs}`;
    await queue.add('greet', payload, { ...storedOptions({ definition: greet }), jobId: id, delay: delayMs });
    await queue.close();

    const { rows } = await owner.query(`select * from ${SCHEMA}.job where id in ($1, $2) order by id`, [
      `greet/ours-${delayMs}`,
      id,
    ]);
    const [ours, theirs] = rows.map(
      ({ id: _id, seq: _seq, added_at_ms: added, process_at_ms: due, opts: { jobId: _jobId, ...opts }, ...rest }) => ({
        ...rest,
        opts,
        wait: due === null ? null : Number(due) - Number(added),
      }),
    );
    expect(rows).toHaveLength(2);
    expect(ours).toEqual(theirs);
  });

  it('remove finished jobs at the end of the first of fifty', async () => {
    const jobs = openJobs({ config: database.config, jobs: [greet], log: pino({ level: 'silent' }) });
    for (let n = 0; n < 60; n += 1) await jobs.enqueue(greet, { who: 'Ada' }, { id: `of-many-${n}` });
    await jobs.close();
    const { rows } = await owner.query(
      `select opts -> 'removeOnComplete' as completed, opts -> 'removeOnFail' as failed, count(*)::int as jobs
         from ${SCHEMA}.job where id like 'greet/of-many-%' group by 1, 2 order by jobs`,
    );
    const { removeOnComplete: completed, removeOnFail: failed } = storedOptions({ definition: greet });
    expect(rows).toEqual([
      { completed, failed, jobs: 2 },
      { completed: false, failed: false, jobs: 58 },
    ]);
  });

  it('are not worked on with too few connections for their lanes, each of which listens on one', async () => {
    const settings = { config: database.config, log: pino({ level: 'silent' }) };
    const lanes = ['first', 'second'].map((lane) => ({ ...greet, name: `greet-${lane}`, lane }));
    const few = openJobs({ ...settings, jobs: lanes, connections: 4 });
    await expect(few.start()).rejects.toThrow('4 connections are too few for 3 lanes of jobs');
    await few.close();
    const enough = openJobs({ ...settings, jobs: lanes, connections: 5 });
    await enough.start();
    await enough.close();
  });

  it('can be prepared by several processes at once, and repeatedly', async () => {
    await Promise.all([migrateJobs(owner), migrateJobs(owner), migrateJobs(owner)]);
  });

  it('cannot be read by roles that only read or only append', async () => {
    for (const role of ['castellan_reads', 'castellan_store']) {
      const client = new pg.Client({ ...database.config, options: `-c role=${role}` });
      await client.connect();
      await expect(client.query(`select * from ${SCHEMA}.job`)).rejects.toThrow('permission denied');
      await client.end();
    }
  });
});
