-- What a synchronization of a directory has read and is doing. Unlogged: after a crash of the server everything here is
-- gone at once, and the synchronization reads the directory again. Rows are deleted a day after its end.
create unlogged table directory_sync_runs (
  tenant_id    uuid        not null,
  sync_id      uuid        not null,
  phase        text        not null,
  -- The attempt that works on it, and until when no other may.
  holder       uuid,
  held_until   timestamptz not null,
  progress     jsonb       not null,
  updated_at   timestamptz not null,
  primary key (tenant_id, sync_id)
);

-- People of the directory, and people of the source whom it no longer lists (without `person`).
create unlogged table directory_sync_people (
  tenant_id   uuid    not null,
  sync_id     uuid    not null,
  external_id text    not null collate "C",
  member_key  text    collate "C",
  person      jsonb,
  action      text,
  user_id     uuid,
  refusal     text,
  -- The plan that waited for a confirmation would have deactivated this person.
  shown       boolean not null default false,
  done        boolean not null default false,
  primary key (tenant_id, sync_id, external_id)
);
create index on directory_sync_people (tenant_id, sync_id, member_key);
create index on directory_sync_people (tenant_id, sync_id, action, external_id);

create unlogged table directory_sync_members (
  tenant_id  uuid not null,
  sync_id    uuid not null,
  group_id   text not null collate "C",
  member_key text not null collate "C",
  primary key (tenant_id, sync_id, group_id, member_key)
);

alter table directory_sync_runs enable row level security;
alter table directory_sync_people enable row level security;
alter table directory_sync_members enable row level security;
create policy tenant on directory_sync_runs to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
create policy tenant on directory_sync_people to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
create policy tenant on directory_sync_members to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, update, delete on directory_sync_runs, directory_sync_people, directory_sync_members to castellan_service;

create function sweep_directory_syncs() returns integer language sql security definer set search_path = public, pg_temp as $$
  with old as (
    delete from directory_sync_runs where phase = 'ended' and updated_at < now() - interval '1 day' returning tenant_id, sync_id
  ), people as (
    delete from directory_sync_people p using old where p.tenant_id = old.tenant_id and p.sync_id = old.sync_id
  ), members as (
    delete from directory_sync_members m using old where m.tenant_id = old.tenant_id and m.sync_id = old.sync_id
  )
  select count(*)::integer from old
$$;
revoke all on function sweep_directory_syncs() from public;
grant execute on function sweep_directory_syncs() to castellan_service;
