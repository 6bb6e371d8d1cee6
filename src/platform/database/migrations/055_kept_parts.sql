-- What migrations made, by name. A dump makes constraints, indexes, row security and policies last: without them a restore did
-- not end, and the service must not work on what there is of it (`src/platform/database/parts.ts`). Only for the owner.
create table kept_parts (
  part text primary key
);
alter table kept_parts enable row level security;

-- Tables of read models and of the states of reactions are left out: they come and go. So is the seal of a log that was moved.
create view present_parts with (security_invoker = true) as
  with tables as (
    select c.oid, c.relname as name, c.relrowsecurity as is_guarded from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and c.relowner is distinct from (select oid from pg_roles where rolname = 'castellan_projector')
       and not exists (select from cursors u
                        where c.relname in (u.name || '_v' || u.version, u.name || '_v' || u.version || '_g' || u.generation,
                                            replace(u.name, '-', '_') || '_state_v' || u.version))
  )
  select format('table %s', name) as part from tables
  union all
  select format('row security of %s', name) from tables where is_guarded
  union all
  select format('constraint %s of %s', k.conname, t.name) from pg_constraint k join tables t on t.oid = k.conrelid where k.contype in ('p', 'u', 'f', 'x', 'c')
  union all
  select format('index %s of %s', i.relname, t.name) from pg_index x join tables t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
   where x.indisvalid and not exists (select from pg_constraint k where k.conindid = i.oid and k.conrelid = t.oid)
  union all
  select format('trigger %s of %s', g.tgname, t.name) from pg_trigger g join tables t on t.oid = g.tgrelid
   where not g.tgisinternal and g.tgfoid <> 'refuse_append'::regproc
  union all
  select distinct format('function %s', p.proname) from pg_proc p
   where p.pronamespace = 'public'::regnamespace
     and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

insert into kept_parts (part) select part from present_parts;
