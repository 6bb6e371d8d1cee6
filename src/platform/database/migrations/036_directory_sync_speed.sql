-- A synchronization decides about people who did not change while it reads them, and stages them without their description.
alter table directory_sync_people
  -- The directory lists this person. `person` is their description, unless nothing follows from it.
  add column listed boolean not null default false,
  -- The e-mail of an active person, in lower case.
  add column email text collate "C";
drop index directory_sync_people_tenant_id_sync_id_action_external_id_idx;
create index on directory_sync_people (tenant_id, sync_id, action, external_id) where action <> 'keep';

-- After a directory was read. The statements that follow are planned for as many rows as there are now; autovacuum would
-- look at the tables a minute later.
create function analyze_directory_syncs() returns void language sql security definer set search_path = public, pg_temp as $$
  analyze directory_sync_people, directory_sync_members
$$;
revoke all on function analyze_directory_syncs() from public;
grant execute on function analyze_directory_syncs() to castellan_service;
