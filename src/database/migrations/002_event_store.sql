-- One append-only table. `position` is assigned under one lock that is held until commit, so positions are gapless and
-- in commit order: a reader of the feed can never pass an event that commits later.
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
-- The feed of one tenant, for verifying its audit chain without reading everybody's.
create index on events (tenant_id, position);

-- What may have one owner at a time: keyed digests, never the values.
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

-- The service reads and appends; nobody who serves requests may change or remove what happened.
grant select on events to castellan_store, castellan_projector, castellan_service;
grant select on claims to castellan_store;
grant select, insert, update on stream_retention to castellan_store;
