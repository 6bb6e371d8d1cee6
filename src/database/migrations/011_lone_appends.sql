-- One append of one event, which takes at most one claim and releases none: what a caller who is alone waits for. As `append_next` of 010
-- (which stays for processes of the version before, while they are replaced one by one), but without a subtransaction: whether the
-- event fits is proved by the unique keys, and where it does not (a stream that was begun in the meantime, a hint that is wrong) the
-- statement fails with `unique_violation` and has left nothing. A claim that is taken is answered null.
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
  if take_kind is not null then
    insert into claims (tenant_id, kind, digest, stream) values (take_tenant, take_kind, take_digest, its_stream) on conflict do nothing;
    if not found then return null; end if;
  end if;
  insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
  select coalesce((select e.position from events e where e.position >= hint order by e.position desc limit 1), 0) + 1,
         its_tenant, its_stream, expected + 1, its_id, its_type, its_version, clock_timestamp(), its_metadata, its_data
   where expected = -1 or expected = (select e.revision from events e where e.stream = its_stream order by e.revision desc limit 1)
  returning position || ' ' || recorded_at into placed;
  -- Nothing was appended, so the claim is not to stay either.
  if placed is null and take_kind is not null then raise unique_violation; end if;
  return placed;
end $$;
revoke all on function append_one from public;
grant execute on function append_one to castellan_store;
