-- A function that only processes of earlier versions call. It stays so that processes can be replaced one by one. The
-- migration that drops it takes this file with it.

-- Appends one event that takes at most one claim. Returns 'position time'. Returns null where the stream is not at
-- `expected`, or the claim is taken. Fails with `unique_violation` where the stream was begun in the meantime, or the
-- hint is wrong.
create function append_one(
  hint bigint, its_tenant uuid, its_stream text, expected bigint, its_id uuid, its_type text, its_version smallint, its_metadata json, its_data json,
  take_tenant uuid default null, take_kind text default null, take_digest bytea default null
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  placed text;
begin
  perform pg_advisory_xact_lock(4202611);
  if expected >= 0 then
    if expected is distinct from (select e.revision from events e where e.stream = its_stream order by e.revision desc limit 1) then return null; end if;
  end if;
  if take_kind is not null then
    insert into claims (tenant_id, kind, digest, stream) values (take_tenant, take_kind, take_digest, its_stream) on conflict do nothing;
    if not found then return null; end if;
  end if;
  insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
  values (coalesce((select e.position from events e where e.position >= hint order by e.position desc limit 1), 0) + 1,
          its_tenant, its_stream, expected + 1, its_id, its_type, its_version, clock_timestamp(), its_metadata, its_data)
  returning position || ' ' || recorded_at into placed;
  return placed;
end $$;
revoke all on function append_one from public;
grant execute on function append_one to castellan_store;
