-- How events get into the log. The service tries the cheaper function first:
--
--   append_fitting  a group of appends, all or none
--   append_events   a group of appends, each with its own verdict: slower, and says why an append was refused
--
-- append_fitting relies on this: a stream only grows. If `known` was its newest revision at any earlier moment, and the
-- next revision can be inserted now, then it is still the newest. The unique keys of `events` and `claims` prove it
-- without another look. A new stream needs no other proof.
--
-- `hint` is a position that the log had reached. The newest position is looked up from there, which reads less of the
-- index. With a hint that is wrong (the log was restored from a backup) the append does not fit.
--
-- Connections of castellan_store set how these statements are planned. The process that appended notifies subscribers
-- (`src/platform/eventstore/postgres/append-announcer.ts`); a notification from here would cost as much as the insert.

-- The arguments are columns of little tables: of the streams that exist already (`known` is the revision expected of
-- each), of the events in their order, of the claims to release, and of the claims to take.
-- Returns the position before the first event, and the time in epoch ms. `head` is null where the group does not fit.
create function append_fitting(
  hint bigint, known_streams text[], known bigint[],
  tenants uuid[], streams text[], revisions bigint[], ids uuid[], types text[], versions smallint[], metadata json[], data json[],
  release_tenants uuid[] default '{}', release_kinds text[] default '{}', release_digests bytea[] default '{}', release_streams text[] default '{}',
  take_tenants uuid[] default '{}', take_kinds text[] default '{}', take_digests bytea[] default '{}', take_streams text[] default '{}',
  out head bigint, out at bigint
)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  moment timestamptz;
begin
  if cardinality(known) > 0 then
    perform from unnest(known_streams, known) as stands(stream, revision)
      where stands.revision is distinct from (select e.revision from events e where e.stream = stands.stream order by e.revision desc limit 1);
    if found then return; end if;
  end if;

  perform pg_advisory_xact_lock(4202611);
  moment := clock_timestamp();
  head := coalesce((select e.position from events e where e.position >= hint order by e.position desc limit 1), 0);
  insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
  select append_fitting.head + n, tenants[n], streams[n], revisions[n], ids[n], types[n], versions[n], moment,
         append_fitting.metadata[n], append_fitting.data[n]
    from generate_series(1, cardinality(ids)) n;
  if cardinality(release_kinds) > 0 then
    delete from claims c using unnest(release_tenants, release_kinds, release_digests, release_streams) as r(tenant_id, kind, digest, stream)
     where c.tenant_id = r.tenant_id and c.kind = r.kind and c.digest = r.digest and c.stream = r.stream;
  end if;
  if cardinality(take_kinds) > 0 then
    insert into claims (tenant_id, kind, digest, stream)
    select * from unnest(take_tenants, take_kinds, take_digests, take_streams);
  end if;
  at := floor(extract(epoch from moment) * 1000)::bigint;
exception when unique_violation then
  head := null;
end $$;
revoke all on function append_fitting from public;
grant execute on function append_fitting to castellan_store;

-- A group of attempts in one transaction, each with its own verdict. The caller names every stream and every claim at
-- most once in a group. The arguments are columns of four little tables; `..._of` is the number of an attempt:
--
--   attempts               tenants, streams, expected (revision of the last known event, -1 for a new stream), sizes
--   their events           event_of, event_nth (1, 2, 3 within the attempt), ids, types, versions, metadata, data
--   claims to take         take_of, take_tenants, take_kinds, take_digests
--   claims to release      release_of, release_tenants, release_kinds, release_digests
--
-- Returns {ok: [bool], actual: [revision], base: [position before its first event], at: epoch ms,
-- lost: [the claim that was lost first, or null], holders: [the stream that holds it]}.
create function append_events(
  tenants uuid[], streams text[], expected bigint[], sizes integer[],
  event_of integer[], event_nth integer[], ids uuid[], types text[], versions smallint[], metadata json[], data json[],
  take_of integer[] default '{}', take_tenants uuid[] default '{}', take_kinds text[] default '{}', take_digests bytea[] default '{}',
  release_of integer[] default '{}', release_tenants uuid[] default '{}', release_kinds text[] default '{}', release_digests bytea[] default '{}'
) returns json
language plpgsql security definer set search_path = public, pg_temp
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
    -- In the order of the arguments: an attempt reports the first claim that it lost.
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
  end if;

  return json_build_object('ok', ok, 'actual', actual, 'base', base, 'lost', lost, 'holders', holders,
    'at', floor(extract(epoch from moment) * 1000)::bigint);
end $$;
revoke all on function append_events from public;
grant execute on function append_events to castellan_store;
