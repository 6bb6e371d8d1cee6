-- `append_one` of 011 with a plainer insert: what the next revision rests on is looked at before, and only where the stream had begun. All else
-- is as it was, so that processes of the version before call it too.
create or replace function append_one(
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
