import type pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { transaction } from './transaction.ts';
import { DATABASE_ROLES, roleGroupOf } from './logins.ts';

const FORBIDDEN = '42501';
/** Views that a message names. */
const NAMED = 3;
const PROJECTOR = `'${roleGroupOf('projector')}'`;
const READS = `'${roleGroupOf('reads')}'`;
const GROUPS = `array[${DATABASE_ROLES.map((role) => `'${roleGroupOf(role)}'`).join(', ')}]`;

/**
 * Every grant, policy and owner in schema `public` that concerns the groups, as statements that create it again, in a
 * valid order. Functions of extensions and tables of read models are left out, because they are created elsewhere.
 */
const PRESENT = `
  with mine as (
    select c.oid, c.relname, c.relowner, c.relacl from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relowner <> (select oid from pg_roles where rolname = ${PROJECTOR})
  ), functions as (
    select p.oid, p.proacl, p.proowner, p.oid::regprocedure::text as signature from pg_proc p
     where p.pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  )
  select 1 as step, format('grant %s on schema public to %I', lower(a.privilege_type), g.rolname) as statement
    from pg_namespace n, aclexplode(n.nspacl) a join pg_roles g on g.oid = a.grantee where n.nspname = 'public' and g.rolname = any(${GROUPS})
  union all
  select 2, format('grant %s on table public.%I to %I', lower(a.privilege_type), m.relname, g.rolname)
    from mine m, aclexplode(m.relacl) a join pg_roles g on g.oid = a.grantee where g.rolname = any(${GROUPS})
  union all
  select 3, format('drop policy if exists %I on public.%I; create policy %I on public.%I as %s for %s to %s', p.policyname, p.tablename, p.policyname, p.tablename,
                   lower(p.permissive), lower(p.cmd), (select string_agg(quote_ident(name), ', ') from unnest(p.roles) name))
            || coalesce(' using (' || p.qual || ')', '') || coalesce(' with check (' || p.with_check || ')', '')
    from pg_policies p join mine m on m.relname = p.tablename where p.schemaname = 'public'
  union all
  select 4, format('revoke all on function %s from public', f.signature) from functions f
   where f.proacl is not null and not exists (select from aclexplode(f.proacl) a where a.grantee = 0)
  union all
  select 5, format('grant execute on function %s to %I', f.signature, g.rolname)
    from functions f, aclexplode(f.proacl) a join pg_roles g on g.oid = a.grantee where g.rolname = any(${GROUPS}) and g.oid <> f.proowner
  union all
  select 6, format('alter function %s owner to %I', f.signature, g.rolname) from functions f join pg_roles g on g.oid = f.proowner where g.rolname = any(${GROUPS})`;

/** Recorded after migrations: from then on, each start detects what is missing. */
export async function recordRights(owner: pg.Pool): Promise<void> {
  await transaction(owner, async (client) => {
    await client.query('lock table kept_rights in share row exclusive mode');
    await client.query('delete from kept_rights');
    await client.query(
      `insert into kept_rights (ordinal, statement) select row_number() over (order by step, statement), statement from (${PRESENT}) present`,
    );
  });
}

/** Whether who queries read models may not read a table or view of them (`c`). */
const IS_HIDDEN = `not exists (select from aclexplode(c.relacl) a join pg_roles g on g.oid = a.grantee where g.rolname = ${READS} and a.privilege_type = 'SELECT')`;

/** The policy of every table of a read model, or of a reaction's state (`c`): rows of the tenant that the connection names. */
const IS_OPEN = `not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant' and p.polpermissive and p.polcmd = 'r'
    and p.polroles = array[(select oid from pg_roles where rolname = ${READS})]
    and replace(pg_get_expr(p.polqual, p.polrelid), 'public.', '') = '(tenant_id = castellan_tenant())')`;
/** What somebody revoked from the owner, too. */
const IS_LOCKED = `c.relacl is not null and not exists (select from aclexplode(c.relacl) a where a.grantee = c.relowner and a.privilege_type = 'INSERT')`;
/** Behind such a view, the rights of its owner apply, and the owner sees every tenant. */
const IS_SEEN_THROUGH = `not coalesce(c.reloptions @> array['security_invoker=true'], false)`;

/** The view of a read model shows the table that is live, or else the newest one that is made. */
const UNSERVED = `
  select s.name as view, s.table from (
    select distinct on (u.name) u.name, u.name || '_v' || u.version || case when u.generation > 1 then '_g' || u.generation else '' end as table
      from cursors u where u.kind = 'model' and u.state <> 'retired'
     order by u.name, u.state = 'live' desc, u.state = 'halted' desc, u.version desc, u.generation desc) s
   where not exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = s.name)
     and exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = s.table and c.relkind = 'r')`;

const MISSING = `
  select array(select k.statement from kept_rights k where k.statement not in (select statement from (${PRESENT}) present) order by k.ordinal) as statements,
         array(select c.relname::text from pg_class c join pg_roles o on o.oid = c.relowner
                where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and c.relname in (select name from cursors)
                  and (o.rolname <> ${PROJECTOR} or ${IS_HIDDEN} or ${IS_SEEN_THROUGH})) as views,
         array(select c.relname::text from pg_class c join pg_roles o on o.oid = c.relowner
                where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
                  and (o.rolname <> ${PROJECTOR} or ${IS_HIDDEN} or ${IS_OPEN} or ${IS_LOCKED})
                  and exists (select from cursors u where c.relname in (u.name || '_v' || u.version, u.name || '_v' || u.version || '_g' || u.generation, replace(u.name, '-', '_') || '_state_v' || u.version))) as tables,
         (select coalesce(json_agg(u order by u.view), '[]') from (${UNSERVED}) u) as unserved`;

interface Missing {
  readonly statements: readonly string[];
  readonly views: readonly string[];
  readonly tables: readonly string[];
  /** Read models whose view is gone. */
  readonly unserved: readonly { readonly view: string; readonly table: string }[];
}

const missingIn = async (owner: Pick<pg.Pool, 'query'>): Promise<Missing> =>
  (await owner.query<Missing>(MISSING)).rows[0]!;

const countOf = ({ statements, views, tables, unserved }: Missing): number =>
  statements.length + views.length + tables.length + unserved.length;

/** What the next start gives again, in words. Undefined if nothing is missing. Only reads. */
export async function lostRights(owner: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await owner.query<{ isKept: boolean }>(BEFORE_MIGRATIONS);
  if (!rows[0]!.isKept) return undefined;
  const missing = await missingIn(owner);
  const count = countOf(missing);
  if (count === 0) return undefined;
  const views = missing.unserved.map(({ view }) => `view ${view}`);
  const named = views.length > 0 ? ` (${views.slice(0, NAMED).join(', ')}${views.length > NAMED ? ', …' : ''})` : '';
  return `${count} grants, policies, owners and views are missing or differ${named}: the next start of the service gives them again`;
}

/**
 * Restores lost grants, policies and owners: a dump that was restored before the roles existed, or without privileges, lacks
 * everything that names them. Views of read models follow from checkpoints, and are made again. Returns how many things were
 * missing.
 */
export async function restoreRights(owner: pg.Pool): Promise<number> {
  const missing = await missingIn(owner);
  if (countOf(missing) === 0) return 0;
  await give(owner, missing).catch((error: { code?: string }) => {
    throw error.code === FORBIDDEN ? restoredTooEarly() : error;
  });
  // Record them again as this server prints them: another version may print the same policy differently.
  await recordRights(owner);
  return countOf(missing);
}

async function give(owner: pg.Pool, { statements, views, tables, unserved }: Missing): Promise<void> {
  await transaction(owner, async (client) => {
    await client.query('lock table kept_rights in share row exclusive mode');
    for (const statement of statements) await client.query(statement);
    for (const table of tables) await client.query(readModelRights(quoted(table)));
    for (const { view, table } of unserved)
      await client.query(
        `create or replace view ${quoted(view)} with (security_invoker = true) as select * from ${quoted(table)}; ${viewRights(quoted(view))}`,
      );
    for (const view of views) await client.query(viewRights(quoted(view)));
  });
}

const restoredTooEarly = (): ConfigError =>
  new ConfigError(
    'this database was restored before its roles existed, and lacks grants and policies that its user is not allowed to restore: empty it, run the SQL of `castellan database roles` in it, and restore it again',
  );

const BEFORE_MIGRATIONS = `
  select to_regclass('public.kept_rights') is not null as "isKept",
         to_regclass('public.events') is not null and not exists (select from pg_policies where schemaname = 'public' and tablename = 'events') as "isStripped"`;

/** Migrations depend on grants and policies of earlier migrations. */
export async function ensureRightsBeforeMigrations(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ isKept: boolean; isStripped: boolean }>(BEFORE_MIGRATIONS);
  const { isKept, isStripped } = rows[0]!;
  if (isKept) await restoreRights(owner);
  else if (isStripped) throw restoredTooEarly();
}

/** As `projector/table.ts` grants them for a new table. */
const readModelRights = (table: string): string => `
  drop policy if exists tenant on ${table};
  create policy tenant on ${table} for select to ${roleGroupOf('reads')} using (tenant_id = castellan_tenant());
  grant select on ${table} to ${roleGroupOf('reads')};
  alter table ${table} owner to ${roleGroupOf('projector')};
  grant all on ${table} to ${roleGroupOf('projector')}`;

/** As `projector/table.ts` makes them. */
const viewRights = (view: string): string =>
  `alter view ${view} set (security_invoker = true); alter view ${view} owner to ${roleGroupOf('projector')}; grant select on ${view} to ${roleGroupOf('reads')}`;

const quoted = (name: string): string => `public."${name.replaceAll('"', '""')}"`;
