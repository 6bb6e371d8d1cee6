-- Two things that cost as much as an insert, at every append, are left out of `append_events` (else as in 003): how its statements
-- are planned is said by the connections of `castellan_store`, and who follows the feed is told by the process that appended
-- (`feed-announcer.ts`), which tells less often than it appends.
create or replace function append_events(
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
  end if;

  return json_build_object('ok', ok, 'actual', actual, 'base', base, 'lost', lost, 'holders', holders,
    'at', floor(extract(epoch from moment) * 1000)::bigint);
end $$;

-- `append_events` for what is most frequent: one append of one event that has no claims, while nobody else waits.
-- Under the same lock, with the same answer; `placed`, its position, is null where the stream was not at the expected revision.
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

-- This one is no append, and is planned as it always was.
alter function trim_expired_events(integer) set plan_cache_mode = auto;
alter function trim_expired_events(integer) set enable_seqscan = on;

-- Where it is not named, a caller's temporary tables come first: one called `events` would be taken for the log.
alter function trim_expired_events(integer) set search_path = public, pg_temp;
alter function sweep_expired_tokens set search_path = public, pg_temp;
