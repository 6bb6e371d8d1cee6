-- Appends a group of attempts in one transaction, each with its own verdict. The caller guarantees that a group names
-- every stream and every claim at most once. The arguments are columns of four little tables, in which `…_of` is the number
-- of an attempt:
--
--   attempts                  tenants, streams, expected (revision of the last known event, -1 for a new stream), sizes
--   their events              event_of, event_nth (1, 2, 3, … within the attempt), ids, types, versions, metadata, data
--   the claims that they take        take_of, take_tenants, take_kinds, take_digests
--   and those that they release      release_of, release_tenants, release_kinds, release_digests
--
-- Answers {ok: [bool], actual: [revision], base: [position before its first event], at: epoch ms,
-- lost: [which of the takes was lost first, or null], holders: [the stream that has it]}.
-- The plan is made once a session, perhaps while the log is still empty: hence no sequential scan, whatever the statistics say.
create function append_events(
  tenants uuid[], streams text[], expected bigint[], sizes integer[],
  event_of integer[], event_nth integer[], ids uuid[], types text[], versions smallint[], metadata json[], data json[],
  take_of integer[] default '{}', take_tenants uuid[] default '{}', take_kinds text[] default '{}', take_digests bytea[] default '{}',
  release_of integer[] default '{}', release_tenants uuid[] default '{}', release_kinds text[] default '{}', release_digests bytea[] default '{}'
) returns json
language plpgsql security definer set search_path = public set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  ok      boolean[] := '{}';
  actual  bigint[]  := '{}';
  base    bigint[]  := '{}';
  lost    integer[] := array_fill(null::integer, array[cardinality(streams)]);
  holders text[]    := array_fill(null::text, array[cardinality(streams)]);
  head    bigint;
  holder  text;
  written bigint := 0;
  moment  timestamptz;
begin
  perform pg_advisory_xact_lock(4202611);
  moment := clock_timestamp();
  head := coalesce((select e.position from events e order by e.position desc limit 1), 0);

  for t in 1 .. cardinality(take_of) loop
    -- In the order in which the attempt asked: the first claim that is lost is the one that it hears of.
    continue when lost[take_of[t]] is not null;
    select c.stream into holder from claims c
     where c.tenant_id = take_tenants[t] and c.kind = take_kinds[t] and c.digest = take_digests[t];
    if found and not (holder = streams[take_of[t]] and exists (
      select from generate_series(1, cardinality(release_of)) r
       where release_of[r] = take_of[t] and release_tenants[r] = take_tenants[t]
         and release_kinds[r] = take_kinds[t] and release_digests[r] = take_digests[t]))
    then
      lost[take_of[t]] := t;
      holders[take_of[t]] := holder;
    end if;
  end loop;

  select array_agg(coalesce(newest.revision, -1) order by s.n) into actual
    from unnest(streams) with ordinality s(stream, n)
    left join lateral (select e.revision from events e where e.stream = s.stream order by e.revision desc limit 1) newest on true;
  for n in 1 .. cardinality(streams) loop
    base[n] := head + written;
    ok[n] := actual[n] = expected[n] and lost[n] is null;
    if ok[n] then written := written + sizes[n]; end if;
  end loop;

  if written > 0 then
    insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
    select base[event_of[e]] + event_nth[e], tenants[event_of[e]], streams[event_of[e]], actual[event_of[e]] + event_nth[e],
           ids[e], types[e], versions[e], moment, append_events.metadata[e], append_events.data[e]
      from generate_series(1, cardinality(ids)) e
     where ok[event_of[e]];

    if cardinality(release_of) > 0 then
      delete from claims c using generate_series(1, cardinality(release_of)) r
       where ok[release_of[r]] and c.tenant_id = release_tenants[r] and c.kind = release_kinds[r]
         and c.digest = release_digests[r] and c.stream = streams[release_of[r]];
    end if;
    if cardinality(take_of) > 0 then
      insert into claims (tenant_id, kind, digest, stream)
      select take_tenants[t], take_kinds[t], take_digests[t], streams[take_of[t]]
        from generate_series(1, cardinality(take_of)) t
       where ok[take_of[t]];
    end if;
    perform pg_notify('castellan_feed', (head + written)::text);
  end if;

  return json_build_object('ok', ok, 'actual', actual, 'base', base, 'lost', lost, 'holders', holders,
    'at', floor(extract(epoch from moment) * 1000)::bigint);
end $$;

revoke all on function append_events from public;
grant execute on function append_events to castellan_store;

-- Retention's own function, the only way in which something leaves the log: an expired telemetry event keeps its place
-- (positions stay gapless) and loses its content. Answers how many were trimmed.
create function trim_expired_events(most integer) returns integer
language plpgsql security definer set search_path = public
as $$
declare trimmed integer;
begin
  with expired as (
    select e.position
      from stream_retention r
      join events e on e.stream = r.stream
     where e.type <> '$trimmed' and e.recorded_at < now() - make_interval(days => r.max_age_days)
     order by e.position
     limit most
  )
  update events e set type = '$trimmed', data = '{}', metadata = '{}' from expired x where e.position = x.position;
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

revoke all on function trim_expired_events(integer) from public;
grant execute on function trim_expired_events(integer) to castellan_store;
