-- Appends a group of attempts in one transaction, each with its own verdict. The caller guarantees that a group names
-- every stream and every claim at most once; attempts are numbered 1, 2, 3, ….
--
--   attempts  [{stream, expected, size}]              expected: revision of the last known event, -1 for a new stream
--   arrivals  [{n, i, tenant, stream, id, type, version, metadata, data}]     i: 1, 2, 3, … within its attempt
--   takes     [{n, tenant, kind, digest, stream}]     null when nobody claims anything
--   releases  [{n, tenant, kind, digest, stream}]
--
-- Answers {ok: [bool], actual: [revision], base: [position before its first event], at: epoch ms, blocked: [{n, …}]}.
-- Its statements are planned once a session: planning them anew for the values of each call cost more than running them.
create function append_events(attempts json, arrivals json, takes json, releases json) returns json
language plpgsql security definer set search_path = public set plan_cache_mode = force_generic_plan
as $$
declare
  ok      boolean[];
  actual  bigint[];
  base    bigint[];
  blocked json;
  head    bigint;
  written bigint;
  moment  timestamptz;
begin
  perform pg_advisory_xact_lock(4202611);
  moment := clock_timestamp();
  select coalesce(max(position), 0) into head from events;

  if takes is not null then
    -- In the order in which the attempt asked: the first claim that is lost is the one that it hears of.
    select json_agg(json_build_object('n', t.n, 'tenant', t.tenant, 'kind', t.kind, 'digest', t.digest, 'holder', c.stream) order by t.place)
      into blocked
      from rows from (json_to_recordset(takes) as (n int, tenant uuid, kind text, digest text))
           with ordinality as t(n, tenant, kind, digest, place)
      join claims c on c.tenant_id = t.tenant and c.kind = t.kind and c.digest = decode(t.digest, 'hex')
     where not exists (
       select from json_to_recordset(releases) as r(n int, tenant uuid, kind text, digest text, stream text)
        where r.n = t.n and r.tenant = t.tenant and r.kind = t.kind and r.digest = t.digest and r.stream = c.stream);
  end if;

  select array_agg(verdict.ok order by verdict.n),
         array_agg(verdict.actual order by verdict.n),
         array_agg(head + verdict.earlier order by verdict.n),
         sum(verdict.size) filter (where verdict.ok)
    into ok, actual, base, written
    from (
      select judged.*,
             coalesce(sum(case when judged.ok then judged.size end)
               over (order by judged.n rows between unbounded preceding and 1 preceding), 0)::bigint as earlier
        from (
          select a.n, a.size, coalesce(newest.revision, -1) as actual,
                 coalesce(newest.revision, -1) = a.expected
                   and (blocked is null or not exists (
                     select from json_to_recordset(blocked) as b(n int) where b.n = a.n)) as ok
            from rows from (json_to_recordset(attempts) as (stream text, expected bigint, size int))
                 with ordinality as a(stream, expected, size, n)
            left join lateral (
              select e.revision from events e where e.stream = a.stream order by e.revision desc limit 1
            ) newest on true
        ) judged
    ) verdict;

  if written > 0 then
    insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
    select base[e.n] + e.i, e.tenant, e.stream, actual[e.n] + e.i, e.id, e.type, e.version, moment, e.metadata, e.data
      from json_to_recordset(arrivals)
        as e(n int, i int, tenant uuid, stream text, id uuid, type text, version smallint, metadata json, data json)
     where ok[e.n];

    if releases is not null then
      delete from claims c using json_to_recordset(releases) as r(n int, tenant uuid, kind text, digest text, stream text)
       where ok[r.n] and c.tenant_id = r.tenant and c.kind = r.kind and c.digest = decode(r.digest, 'hex')
         and c.stream = r.stream;
    end if;
    if takes is not null then
      insert into claims (tenant_id, kind, digest, stream)
      select t.tenant, t.kind, decode(t.digest, 'hex'), t.stream
        from json_to_recordset(takes) as t(n int, tenant uuid, kind text, digest text, stream text)
       where ok[t.n];
    end if;
    perform pg_notify('castellan_feed', (head + written)::text);
  end if;

  return json_build_object('ok', ok, 'actual', actual, 'base', base, 'blocked', blocked,
    'at', floor(extract(epoch from moment) * 1000)::bigint);
end $$;

revoke all on function append_events(json, json, json, json) from public;
grant execute on function append_events(json, json, json, json) to castellan_store;

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
