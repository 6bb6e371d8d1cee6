import type pg from 'pg';

/**
 * Everything that migrations can create in a database, one line each, in an order that does not depend on their
 * history: relations, columns in their order, constraints, indexes, policies, triggers, functions, types, extensions,
 * comments, privileges, and the rows that migrations insert. Function bodies are compared without comments and layout.
 */
export async function schemaInWords(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`select line from (${STRUCTURE}) everything order by line`);
  return [...rows.map(({ line }) => line), ...(await contents(client))];
}

/** The rows of all tables: a new database has those that migrations insert. Times differ from run to run. */
async function contents(client: pg.ClientBase): Promise<string[]> {
  const tables = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = any(${OURS}) order by 1`,
  );
  const lines: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ row: object }>(`select to_jsonb(t) - 'timestamp' as row from ${name} t`);
    lines.push(...rows.map(({ row }) => `row of ${name}: ${JSON.stringify(row)}`).sort());
  }
  return lines;
}

const OURS = `array['public', 'migrations']::regnamespace[]`;
const sorted = (acl: string): string =>
  `(select string_agg(item::text, ', ' order by item::text) from unnest(${acl}) item)`;
const notOfAnExtension = (catalogue: string, oid: string): string =>
  `not exists (select from pg_depend d where d.classid = '${catalogue}'::regclass and d.objid = ${oid} and d.deptype = 'e')`;

const STRUCTURE = `
  select concat_ws(' ', 'relation', c.oid::regclass, c.relkind, c.relpersistence, 'owner', c.relowner::regrole, 'security', c.relrowsecurity, c.relforcerowsecurity,
                   'options', c.reloptions, 'rights', ${sorted('c.relacl')}) as line
    from pg_class c where c.relnamespace = any(${OURS})
  union all
  select concat_ws(' ', 'column', a.attrelid::regclass, row_number() over (partition by a.attrelid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod),
                   'not null', a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid), 'identity', a.attidentity, 'generated', a.attgenerated,
                   'collation', nullif(a.attcollation, 0)::regcollation, 'storage', a.attstorage, 'rights', ${sorted('a.attacl')})
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relnamespace = any(${OURS}) and c.relkind <> 'i' and a.attnum > 0 and not a.attisdropped
  union all
  select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) from pg_constraint where connamespace = any(${OURS})
  union all
  select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisreplident, i.indisclustered)
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = any(${OURS})
  union all
  select concat_ws(' ', 'policy', schemaname, tablename, policyname, permissive, roles, cmd, 'using', qual, 'check', with_check) from pg_policies
  union all
  select concat_ws(' ', 'trigger', tgrelid::regclass, pg_get_triggerdef(oid), tgenabled) from pg_trigger where not tgisinternal
  union all
  select concat_ws(' ', 'function', p.oid::regprocedure, pg_get_function_arguments(p.oid), 'returns', pg_get_function_result(p.oid), p.prokind, l.lanname,
                   p.provolatile, p.proparallel, p.prosecdef, p.proleakproof, p.proisstrict, p.procost, p.prorows, 'owner', p.proowner::regrole, 'rights', ${sorted('p.proacl')},
                   'settings', ${sorted('p.proconfig')}, 'body', regexp_replace(regexp_replace(p.prosrc, '--[^\\n]*', '', 'g'), '\\s+', ' ', 'g'), pg_get_function_sqlbody(p.oid))
    from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = any(${OURS}) and ${notOfAnExtension('pg_proc', 'p.oid')}
  union all
  select concat_ws(' ', 'type', t.oid::regtype, t.typtype, 'owner', t.typowner::regrole, 'rights', ${sorted('t.typacl')})
    from pg_type t where t.typnamespace = any(${OURS}) and ${notOfAnExtension('pg_type', 't.oid')} and t.typelem = 0
  union all
  select concat_ws(' ', 'extension', extname, extversion, extnamespace::regnamespace, extowner::regrole) from pg_extension
  union all
  select concat_ws(' ', 'comment', d.classoid::regclass, c.oid::regclass, d.objsubid, d.description)
    from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass where c.relnamespace = any(${OURS})
  union all
  select concat_ws(' ', 'comment on function', p.oid::regprocedure, d.description)
    from pg_description d join pg_proc p on p.oid = d.objoid and d.classoid = 'pg_proc'::regclass where p.pronamespace = any(${OURS}) and ${notOfAnExtension('pg_proc', 'p.oid')}
  union all
  select concat_ws(' ', 'schema', nspname, 'owner', nspowner::regrole, 'rights', ${sorted('nspacl')}) from pg_namespace where nspname !~ '^pg_(toast|temp)'
  union all
  select concat_ws(' ', 'database', 'rights', ${sorted('datacl')}) from pg_database where datname = current_database()
  union all
  select concat_ws(' ', 'default rights', defaclrole::regrole, defaclnamespace, defaclobjtype, ${sorted('defaclacl')}) from pg_default_acl`;
