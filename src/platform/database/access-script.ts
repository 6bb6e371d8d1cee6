import pg from 'pg';
import { DATABASE_ROLES, roleGroupOf, verifierOf, type DatabaseLogins } from './logins.ts';

export interface AccessWanted {
  readonly database: string;
  /** The user with which the service connects to migrate: that of DATABASE_URL. */
  readonly owner: string;
  readonly logins: DatabaseLogins;
}

const literal = pg.escapeLiteral;
const identifier = pg.escapeIdentifier;

/**
 * SQL that creates the roles for access to a database, or corrects them; safe to repeat. It contains verifiers, not
 * passwords, so that it can be sent to the server's administrator.
 */
export function accessScript({ database, owner, logins }: AccessWanted): string {
  const groups = DATABASE_ROLES.map(roleGroupOf).map(literal).join(', ');
  const users = DATABASE_ROLES.map((role) => identifier(logins[role].user)).join(', ');
  const rows = DATABASE_ROLES.map((role) => {
    const { user, password } = logins[role];
    return `      (${literal(user)}, ${literal(roleGroupOf(role))}, ${password === undefined ? 'null' : literal(verifierOf(password))})`;
  });
  return `-- Castellan: the roles of database ${database.replaceAll(/\s/g, ' ')}. Run it connected to that database.
do $castellan$
declare
  group_name text;
  wanted record;
  other text;
begin
  -- Groups that grants and policies name. They cannot log in. Other Castellan databases of this cluster share them.
  foreach group_name in array array[${groups}] loop
    begin
      if not exists (select from pg_roles where rolname = group_name) then
        execute format('create role %I nologin', group_name);
      end if;
    exception when duplicate_object or unique_violation then null; -- another process was faster
    end;
    if not pg_has_role(${literal(owner)}, group_name, 'usage') then
      execute format('grant %I to %I', group_name, ${literal(owner)});
    end if;
  end loop;

  -- The logins of the service: each is a member of one group, with no rights of its own.
  for wanted in
    select * from (values
${rows.join(',\n')}
    ) as w(login, group_name, verifier)
  loop
    begin
      if not exists (select from pg_roles where rolname = wanted.login) then
        execute format('create role %I login noinherit', wanted.login);
      end if;
    exception when duplicate_object or unique_violation then null;
    end;
    execute format('alter role %I login noinherit password %L', wanted.login, wanted.verifier);
    if exists (select from pg_roles where rolname = wanted.login and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)) then
      execute format('alter role %I nosuperuser nobypassrls nocreaterole nocreatedb noreplication', wanted.login);
    end if;
    for other in
      select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
       where l.rolname = wanted.login and r.rolname <> wanted.group_name
    loop
      execute format('revoke %I from %I', other, wanted.login);
    end loop;
    if not pg_has_role(wanted.login, wanted.group_name, 'member') then
      execute format('grant %I to %I', wanted.group_name, wanted.login);
    end if;
  end loop;
end $castellan$;
-- Without the next line, every login of the cluster could connect, including those of other Castellan databases.
revoke connect on database ${identifier(database)} from public;
grant connect on database ${identifier(database)} to ${identifier(owner)}, ${users};
grant create, temporary on database ${identifier(database)} to ${roleGroupOf('projector')};
`;
}

/** The connected user and database, and whether the groups that migrations name exist. */
export const CONNECTION_STATE = `
  select current_database() as database, current_user as "owner", current_setting('castellan.session', true) as session,
         current_setting('server_version_num')::int as version,
         (select count(*) = cardinality($1::text[]) and bool_and(pg_has_role(oid, 'usage')) from pg_roles where rolname = any($1)) as "hasGroups"`;

/** Whether every login (`$1`) is as the script makes it, as a member of its group (`$2`). */
export const LOGINS_STATE = `
  select bool_and(coalesce(
           l.rolcanlogin and not l.rolinherit and pg_has_role(l.oid, g.oid, 'member')
             and not (l.rolsuper or l.rolbypassrls or l.rolcreaterole or l.rolcreatedb or l.rolreplication)
             and not exists (select from pg_auth_members m where m.member = l.oid and m.roleid <> g.oid)
             and has_database_privilege(l.oid, current_database(), 'connect'),
           false))
         and coalesce((select has_database_privilege(oid, current_database(), 'create') and has_database_privilege(oid, current_database(), 'temporary')
                         from pg_roles where rolname = '${roleGroupOf('projector')}'), false) as "isReady"
    from unnest($1::text[], $2::text[]) as wanted(login, group_name)
    left join pg_roles l on l.rolname = wanted.login
    left join pg_roles g on g.rolname = wanted.group_name`;
