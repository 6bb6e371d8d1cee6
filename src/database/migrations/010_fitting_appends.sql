-- Appends that fit, which nearly all do, with less of everything: hardly a statement but the inserts, and what can be looked at before
-- the lock is. An append that does not fit is answered null and has left nothing; `append_events` then says why. (`append_event` of 009 stays for
-- processes of the version before, while they are replaced one by one.)
--
-- They rest on this: a stream only grows. If `expected` was its newest revision at any time before, and the next one can be
-- inserted now, it is the newest still; the unique keys of both tables prove it. A new stream needs no other proof.
--
-- `hint` is a position that the log has reached: the newest is looked for from there, not on a whole page of its index. A
-- hint that is wrong (a log restored from a backup) finds none, or an old one, and the append does not fit.

-- One append of one event that has no claims. Answers 'position time', a text being cheaper than a row.
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

-- A group of appends in one transaction, all or none. The arguments are columns: of the streams that exist (`known`: the revision that is
-- expected), of the events in their order, of the claims that are released, then of those that are taken.
-- `head` is the position before the first event, `at` epoch ms.
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
