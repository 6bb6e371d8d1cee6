-- The copy of the event log into another store, and back (`src/contexts/installation/log-copy/`). An operator's command works as the owner; no role of the service
-- needs these tables, but for what the audit head sealer has to know.
create table log_copies (
  only_row        boolean     primary key default true check (only_row),
  id              uuid        not null,
  direction       text        not null check (direction in ('to', 'from')),
  -- The servers on the other side, without user and password.
  servers         text        not null,
  source_position bigint      not null default 0,
  -- The newest copied event in the target.
  target_position bigint      not null default 0,
  events          bigint      not null default 0,
  started_at      timestamptz not null default now(),
  finished_at     timestamptz
);
-- Per tenant: how many events, and a hash over all of them in their order, as they were read and as they were written.
create table log_copy_tenants (
  tenant_id uuid   primary key,
  events    bigint not null,
  hash      bytea  not null
);
-- Where lasting events stand in both logs. Telemetry is left out: it is by far the most, and nothing names its positions for long.
create table log_copy_positions (
  from_position bigint primary key,
  to_position   bigint not null
);
-- What has been written to the other server of claims and retention; what differs from it is written next.
create table log_copy_claims (
  tenant_id uuid  not null,
  kind      text  not null,
  digest    bytea not null,
  stream    text  not null,
  primary key (tenant_id, kind, digest)
);
create table log_copy_retention (
  stream       text    primary key,
  max_age_days integer not null
);

do $$
declare table_name text;
begin
  foreach table_name in array array['log_copies', 'log_copy_tenants', 'log_copy_positions', 'log_copy_claims', 'log_copy_retention'] loop
    execute format('alter table %I enable row level security', table_name);
  end loop;
end $$;
create policy projector on log_copies for select to castellan_projector using (true);
grant select on log_copies to castellan_projector;

-- Holds while a log is being moved away, and afterwards: a process that was forgotten cannot write to the log that was left.
create function refuse_append() returns trigger
language plpgsql set search_path = public, pg_temp
as $$
begin
  raise exception 'the event log has been moved to EventStoreDB' using errcode = 'CA002';
end $$;
