import type pg from 'pg';

/** Which cluster, which line of its history, and since when this server runs. A promoted replica differs in the second. */
const IDENTITY = `
  select concat_ws('/',
    (select system_identifier from pg_control_system()),
    case when pg_is_in_recovery() then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end,
    extract(epoch from pg_postmaster_start_time())) as identity`;

/** Two equal answers come from one run of one database server. After anything else, nothing cached of the database is believed. */
export async function serverIdentity(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ identity: string }>({ name: 'server-identity', text: IDENTITY });
  return rows[0]!.identity;
}
