-- Four roles divide the work, so that a mistake in one part cannot reach the data of another:
--
--   castellan_store      appends to the event log
--   castellan_service    serves requests: tokens, keys, budgets of one tenant at a time
--   castellan_projector  maintains read models and reactions of all tenants
--   castellan_reads      queries read models of one tenant at a time
--
-- The roles belong to the server, not to this database. They exist before migrations run (`src/platform/database/access.ts`).
-- The owner of the tables bypasses row-level security. It migrates and runs operators' commands, and serves no request.

-- The tenant that the current statement works for. Without one, row-level security shows no rows.
create function castellan_tenant() returns uuid
language sql stable parallel safe
return nullif(current_setting('castellan.tenant', true), '')::uuid;

grant usage on schema public to castellan_store, castellan_service, castellan_projector, castellan_reads;

-- The projector creates tables of read models, and schemas for `projections rebuild --into`.
grant create on schema public to castellan_projector;
do $$ begin
  execute format('grant create, temporary on database %I to castellan_projector', current_database());
end $$;
