-- Four roles, so that no part of the house can do more than its own work. They cannot log in: a connection of the
-- configured user takes one with `-c role=…`. Roles belong to the whole cluster, hence the guard against a parallel run.
do $$
declare role_name text;
begin
  foreach role_name in array array['castellan_store', 'castellan_service', 'castellan_projector', 'castellan_reads'] loop
    begin
      execute format('create role %I nologin nobypassrls', role_name);
    exception when duplicate_object or unique_violation then null;
    end;
    begin
      execute format('grant %I to current_user', role_name);
    exception when unique_violation then null;
    end;
  end loop;
end $$;

-- Who a statement speaks for. Unset or empty: nobody, and row-level security shows nothing.
create function castellan_tenant() returns uuid
language sql stable parallel safe
return nullif(current_setting('castellan.tenant', true), '')::uuid;

grant usage on schema public to castellan_store, castellan_service, castellan_projector, castellan_reads;
grant create on schema public to castellan_projector;

-- Forensic schemas (`projections rebuild --into …`) are made by the projector.
do $$ begin
  execute format('grant create, temporary on database %I to castellan_projector', current_database());
end $$;
