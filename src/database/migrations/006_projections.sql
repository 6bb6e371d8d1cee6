-- One row per version of a read model or reaction that some process maintains. `epoch` fences: whoever takes the lease
-- raises it, and a checkpoint of an older epoch matches no row, so a zombie cannot commit.
create table cursors (
  name        text        not null,
  version     integer     not null,
  generation  integer     not null default 1,
  lane        text        not null,
  kind        text        not null check (kind in ('model', 'reaction')),
  state       text        not null check (state in ('filling', 'live', 'halted', 'retired')),
  position    bigint      not null,
  epoch       bigint      not null default 0,
  owner       uuid,
  leased_until timestamptz not null default '-infinity',
  filled_from bigint      not null default 0,
  filled_to   bigint,
  started_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  failure     text,
  primary key (name, version, generation)
) with (fillfactor = 50);

-- Streams that a read model could not fold: their events wait here by reference, in order, until an operator retries.
create table parked_events (
  name       text        not null,
  version    integer     not null,
  generation integer     not null,
  stream     text        not null,
  position   bigint      not null,
  tenant_id  uuid        not null,
  error      text,
  parked_at  timestamptz not null default now(),
  retry_asked boolean    not null default false,
  primary key (name, version, generation, position)
);

alter table cursors enable row level security;
alter table parked_events enable row level security;
create policy projector on cursors to castellan_projector using (true) with check (true);
create policy projector on parked_events to castellan_projector using (true) with check (true);
create policy readable on cursors for select to castellan_service using (true);
grant select, insert, update, delete on cursors, parked_events to castellan_projector;
grant select on cursors to castellan_service;
