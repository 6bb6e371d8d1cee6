-- Functions that only processes of earlier versions call. They stay so that processes can be replaced one by one. The
-- migration that drops them takes this file with it.

-- Before append_one: one event, no claims. `placed` is null where the stream is not at `expected`.
create function append_event(
  its_tenant uuid, its_stream text, expected bigint, its_id uuid, its_type text, its_version smallint, its_metadata json, its_data json,
  out actual bigint, out placed bigint, out at bigint
)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  moment timestamptz;
begin
  perform pg_advisory_xact_lock(4202611);
  moment := clock_timestamp();
  actual := coalesce((select e.revision from events e where e.stream = its_stream order by e.revision desc limit 1), -1);
  if actual = expected then
    insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
    values (coalesce((select e.position from events e order by e.position desc limit 1), 0) + 1,
            its_tenant, its_stream, actual + 1, its_id, its_type, its_version, moment, its_metadata, its_data)
    returning position into placed;
  end if;
  at := floor(extract(epoch from moment) * 1000)::bigint;
end $$;
revoke all on function append_event(uuid, text, bigint, uuid, text, smallint, json, json) from public;
grant execute on function append_event(uuid, text, bigint, uuid, text, smallint, json, json) to castellan_store;

-- Before append_one: one event, no claims. Returns null where the append does not fit.
create function append_next(
  hint bigint, its_tenant uuid, its_stream text, expected bigint, its_id uuid, its_type text, its_version smallint, its_metadata json, its_data json
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  placed text;
begin
  perform pg_advisory_xact_lock(4202611);
  insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
  select coalesce((select e.position from events e where e.position >= hint order by e.position desc limit 1), 0) + 1,
         its_tenant, its_stream, expected + 1, its_id, its_type, its_version, clock_timestamp(), its_metadata, its_data
   where expected = -1 or expected = (select e.revision from events e where e.stream = its_stream order by e.revision desc limit 1)
  returning position || ' ' || recorded_at into placed;
  return placed;
exception when unique_violation then
  return null;
end $$;
revoke all on function append_next from public;
grant execute on function append_next to castellan_store;

-- Saves checkpoints and extends their leases, all or none. Now done by the statement that writes the rows of a page.
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
