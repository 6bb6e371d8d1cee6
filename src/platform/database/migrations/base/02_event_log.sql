-- The event log. Every state of the system is folded from it.

-- Appends take one advisory lock and hold it until they commit. Positions are therefore gapless and in commit order:
-- a subscription that has read position n never misses an event that commits later with a lower position.
create table events (
  position    bigint      primary key,
  tenant_id   uuid        not null,
  stream      text        not null,
  revision    bigint      not null,
  id          uuid        not null,
  type        text        not null,
  version     smallint    not null,
  recorded_at timestamptz not null,
  metadata    json        not null,
  data        json        not null,
  unique (stream, revision)
);
-- Verifying the audit chain of one tenant reads only that tenant's events.
create index on events (tenant_id, position);

-- What may have one owner at a time, for example an e-mail address. Holds keyed digests, never the values.
create table claims (
  tenant_id uuid   not null,
  kind      text   not null,
  digest    bytea  not null,
  stream    text   not null,
  primary key (tenant_id, kind, digest)
);

create table stream_retention (
  stream       text    primary key,
  max_age_days integer not null check (max_age_days > 0)
);

alter table events enable row level security;
alter table claims enable row level security;
alter table stream_retention enable row level security;
create policy store on events to castellan_store using (true);
create policy projector on events to castellan_projector using (true);
create policy tenant on events to castellan_service, castellan_reads using (tenant_id = castellan_tenant());
create policy store on claims to castellan_store using (true);
create policy store on stream_retention to castellan_store using (true) with check (true);

-- No role may insert, update or delete events. They can only call the functions in the next two files.
grant select on events to castellan_store, castellan_projector, castellan_service;
grant select on claims to castellan_store;
grant select, insert, update on stream_retention to castellan_store;

-- Becomes a trigger on `events` while the log is moved to EventStoreDB, and stays there afterwards (`src/contexts/installation/log-copy/`).
-- A process that was not stopped then cannot append to the log that was left behind.
create function refuse_append() returns trigger
language plpgsql set search_path = public, pg_temp
as $$
begin
  raise exception 'the event log has been moved to EventStoreDB' using errcode = 'CA002';
end $$;
