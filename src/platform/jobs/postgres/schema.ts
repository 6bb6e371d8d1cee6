import { runMigrations } from 'bullmq';
import type pg from 'pg';
import { transaction } from '../../database/transaction.ts';

/** The schema of BullMQ's tables and functions, and of the outbox in front of Redis. */
export const SCHEMA = 'jobs';

/** An arbitrary number, the same in every process. */
const ADVISORY_LOCK = 7_301_655_218;

/**
 * Tables and grants of jobs, created by the owner. The service enqueues in its own transactions and runs jobs. The
 * projector enqueues with the checkpoints of reactions.
 */
const GRANTS = `
  grant usage on schema ${SCHEMA} to castellan_service, castellan_projector;
  grant select, insert, update, delete on all tables in schema ${SCHEMA} to castellan_service, castellan_projector;
  grant usage on all sequences in schema ${SCHEMA} to castellan_service, castellan_projector;
  grant execute on all functions in schema ${SCHEMA} to castellan_service, castellan_projector;
`;

const OUTBOX = `
  create table if not exists ${SCHEMA}.outbox (
    sequence   bigint generated always as identity primary key,
    lane       text not null,
    id         text not null,
    name       text not null,
    payload    jsonb not null,
    options    jsonb not null
  );
`;

/** Safe to run several times, and from several processes at once. */
export async function migrateJobs(owner: pg.Pool): Promise<void> {
  const client = await owner.connect();
  try {
    await runMigrations(client, SCHEMA);
  } finally {
    client.release();
  }
  await transaction(owner, async (within) => {
    await within.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await within.query(OUTBOX + GRANTS);
  });
}
