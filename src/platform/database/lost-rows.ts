import type pg from 'pg';

/** A log that came from another server may be older, or younger, than what is here. */
const HAS_OWN_LOG = 'not exists (select from log_copies) and not exists (select from unfinished_restore)';
const SET_UP = `from tenant_keys k join events e on e.stream = 'tenant-' || k.tenant_id || '.' || k.tenant_id`;

/**
 * The first tenant was set up in one append, after its keys and secrets were stored, and the last administrator stays. So
 * where a tenant's own stream is in PostgreSQL, there are a claim of its name and a password.
 */
const HAS_TENANT = `${HAS_OWN_LOG} and exists (select ${SET_UP} and e.revision = 0)`;

/** The administrator of a set-up has a key, or was erased. Only the first events of each tenant are looked at. */
const HAS_ADMINISTRATOR = `${HAS_OWN_LOG} and exists (
  select ${SET_UP} and e.revision < 8 and e.type = 'AdminUserCreated'
   where not exists (select from erased_persons p where p.tenant_id = e.tenant_id and p.person_id::text = e.data->>'adminId'))`;

/**
 * Tables that are never empty under a condition, of which each is a fact that was stored after their first row. `case` keeps the
 * look cheap: what is asked of other tables is asked only if the table is empty.
 */
const NEVER_EMPTY: Readonly<Record<string, string>> = {
  'migrations.kysely_migration': 'true',
  log_watch: 'true',
  // Every checkpoint of a read model is made before the installation gets its identity and its first event.
  cursors: 'exists (select from installation) or exists (select from events)',
  kept_keys: 'exists (select from installation)',
  // It says which rights to give again. It is written after the first rights were given.
  kept_rights: `not exists (select from pg_class c, aclexplode(c.relacl) a where c.oid = 'public.events'::regclass and a.grantee <> c.relowner)`,
  master_keys: 'exists (select from kept_keys)',
  // Nothing destroys a tenant's key, and it is stored before what is sealed with it.
  tenant_keys: 'exists (select from person_keys) or exists (select from secrets)',
  claims: HAS_TENANT,
  person_keys: HAS_ADMINISTRATOR,
  secrets: HAS_TENANT,
};

const EMPTY = Object.entries(NEVER_EMPTY)
  .map(
    ([table, unless]) =>
      `select '${table}' as name where case when exists (select from ${table}) then false else ${unless} end`,
  )
  .join(' union all ');

const LEDGER = `
  select (to_regclass('jobs.job') is not null or to_regtype('jobs.job_state') is not null) as "isMade",
         to_regclass('jobs.migration') is not null as "hasLedger"`;

/** Tables that are empty and cannot be: their rows were not restored. Only reads, of databases since migration 055. */
export async function tablesWithoutRows(owner: Pick<pg.Pool, 'query'>): Promise<readonly string[]> {
  const { rows } = await owner.query<{ name: string }>(`${EMPTY} order by 1`);
  return [...rows.map(({ name }) => name), ...((await lacksLedger(owner)) ? ['jobs.migration'] : [])];
}

/** Tables and types of jobs, and the record of their migrations, are made in one transaction. */
async function lacksLedger(owner: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { isMade, hasLedger } = (await owner.query<{ isMade: boolean; hasLedger: boolean }>(LEDGER)).rows[0]!;
  if (!isMade) return false;
  return !hasLedger || (await owner.query('select from jobs.migration limit 1')).rowCount === 0;
}
