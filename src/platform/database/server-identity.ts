import type pg from 'pg';

/** The cluster, its timeline, and the start time of the server. A promoted replica differs in the timeline. */
const IDENTITY = `
  select concat_ws('/',
    (select system_identifier from pg_control_system()),
    case when pg_is_in_recovery() then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end,
    extract(epoch from pg_postmaster_start_time())) as identity`;

/**
 * Two equal values come from one run of one database server. If the value changes, drop everything cached from the
 * database.
 */
export async function serverIdentity(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ identity: string }>({ name: 'server-identity', text: IDENTITY });
  return rows[0]!.identity;
}
