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

-- Moves checkpoints and prolongs their leases, all of them or (SQLSTATE CA001) none: a holder of an older epoch must not commit.
-- It raises instead of telling how many it moved, so that the commit can be sent right behind it.
create function advance_cursors(moved json, lease_seconds integer) returns void
language plpgsql set search_path = public set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare held integer;
begin
  update cursors c set position = m.position, leased_until = now() + make_interval(secs => lease_seconds), updated_at = now()
    from json_to_recordset(moved) as m(name text, version int, generation int, epoch bigint, state text, position bigint)
   where c.name = m.name and c.version = m.version and c.generation = m.generation and c.epoch = m.epoch and c.state = m.state;
  get diagnostics held = row_count;
  if held <> json_array_length(moved) then
    raise exception 'the lease on a cursor was lost' using errcode = 'CA001';
  end if;
end $$;
revoke all on function advance_cursors(json, integer) from public;
grant execute on function advance_cursors(json, integer) to castellan_projector;
