-- The projections engine: checkpoints, leases, and what could not be processed. The tables of read models are created by
-- the projector, from their declarations.

-- One row per version of a read model or reaction. `epoch` fences: a process that takes the lease raises it, and a
-- checkpoint with an older epoch matches no row, so a process that has lost its lease cannot commit.
-- `kind` and `state` have no check: PostgreSQL parses checks again for each statement that writes the table, and every
-- page does. One file writes them, and its types say which values there are.
create table cursors (
  name        text        not null,
  version     integer     not null,
  generation  integer     not null default 1,
  lane        text        not null,
  kind        text        not null,
  state       text        not null,
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

-- Called by the statement that saves checkpoints (`src/platform/projector/checkpoints.ts`) when a lease was lost, to roll it back.
create function lease_lost() returns boolean
language plpgsql
as $$
begin
  raise exception 'the lease on a cursor was lost' using errcode = 'CA001';
end $$;
revoke all on function lease_lost from public;
grant execute on function lease_lost to castellan_projector;

-- Events of streams that could not be processed. They wait here by reference and in order, until an operator retries or
-- skips them.
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
  -- Recorded when an operator skips the event. Null in rows of earlier versions.
  type       text,
  skip_asked boolean     not null default false,
  primary key (name, version, generation, position)
);
-- Each event asks whether its stream is parked, and millions of events of one stream may wait.
create index parked_events_by_stream on parked_events (name, version, generation, stream, position);
-- What operators have asked for is looked up every second.
create index parked_events_asked on parked_events (name, version, generation, tenant_id) where retry_asked or skip_asked;

-- Tenants that a reaction has set aside (`src/platform/projector/tenant-backlogs.ts`). Their events after `position`, up to the
-- reaction's own checkpoint, are processed in turns with those of other tenants. One row, however long the backlog.
create table tenant_backlogs (
  name       text        not null,
  version    integer     not null,
  generation integer     not null,
  tenant_id  uuid        not null,
  position   bigint      not null,
  set_aside_at timestamptz not null default now(),
  -- Why the tenant's events cannot be processed at present.
  failure    text,
  primary key (name, version, generation, tenant_id)
);

-- What the tables know of the log that they were made from (`src/contexts/installation/log-watch.ts`). One row.
create table log_watch (
  only_row   boolean     primary key default true check (only_row),
  -- An event that stays in the log.
  position   bigint,
  event_id   uuid,
  -- While a running process finds that the log is not the one that it knew: its reason, and the kind of mismatch.
  doubt      text,
  doubted_at timestamptz,
  mismatch   text
);
insert into log_watch default values;

alter table cursors enable row level security;
alter table parked_events enable row level security;
alter table tenant_backlogs enable row level security;
alter table log_watch enable row level security;
create policy projector on cursors to castellan_projector using (true) with check (true);
create policy projector on parked_events to castellan_projector using (true) with check (true);
create policy projector on tenant_backlogs to castellan_projector using (true) with check (true);
create policy projector on log_watch to castellan_projector using (true) with check (true);
create policy readable on cursors for select to castellan_service using (true);
grant select, insert, update, delete on cursors, parked_events, tenant_backlogs to castellan_projector;
grant select, update on log_watch to castellan_projector;
grant select on cursors to castellan_service;
