-- The only two ways in which the log gives something up. Both concern telemetry, which is in no audit chain.

-- Retention: an expired event loses type and content, and keeps its position, so that positions stay gapless.
-- Returns how many events were trimmed.
create function trim_expired_events(most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = auto set enable_seqscan = on
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

-- Erasure of a person: telemetry says who was on which host. The event keeps its position and what is counted of it. It
-- loses person, device, stream, id and everything that was sealed. If another person has used the stream since, its
-- newest event is trimmed instead, because the next append to the stream expects its revision.
--
-- The name of an identity provider is free text from a browser. The event keeps the word that read models have for it
-- (`src/contexts/discovery/domain/identity-provider.ts`), so that a rebuild comes to the same rows.
-- Returns how many events were changed, and the position of the last.
create function anonymize_telemetry(tenant uuid, person uuid, after bigint, most integer, out changed integer, out reached bigint)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  nobody constant text := '00000000-0000-0000-0000-000000000000';
begin
  with theirs as (
    select e.position, e.stream, e.data::jsonb as data,
           exists (select from events o where o.stream = e.stream and o.data->>'userId' is distinct from person::text and o.type <> '$trimmed')
             and not exists (select from events o where o.stream = e.stream and o.revision > e.revision) as keeps_its_place
      from events e
     where e.tenant_id = tenant and e.position > after and e.type = 'TelemetryRecorded' and e.data->>'userId' = person::text
     order by e.position
     limit most
  ), done as (
    update events e
       set type = case when t.keeps_its_place then '$trimmed' else 'AnonymousTelemetryRecorded' end,
           version = 1,
           id = gen_random_uuid(),
           stream = case when t.keeps_its_place then e.stream else 'anonymousTelemetry-' || tenant || '.' || e.position end,
           revision = case when t.keeps_its_place then e.revision else 0 end,
           metadata = case when t.keeps_its_place then '{}'::json else
             json_build_object('actor', json_build_object('kind', 'system', 'id', null), 'correlationId', nobody, 'causationId', nobody, 'commandId', nobody) end,
           data = case when t.keeps_its_place then '{}'::json else json_build_object('observations', coalesce((
             select json_agg((o.seen || jsonb_build_object('eventId', nobody, 'url', null) || case o.seen->>'kind'
                      when 'navigation' then '{"title": null, "referrerDomain": null}'
                      when 'credential_attempt' then '{"username": null}'
                      when 'auth_flow' then jsonb_build_object('relyingParty', null, 'provider', case
                             when coalesce(lower(trim(o.seen->>'provider')), '') in ('', 'none') then null
                             when o.seen->>'provider' ~* 'entra|azure|microsoft' then 'entra_id'
                             when o.seen->>'provider' ~* 'google' then 'google'
                             when o.seen->>'provider' ~* 'okta' then 'okta'
                             else 'other' end)::text
                      when 'extension_inventory' then '{"extensions": []}'
                      when 'extension_event' then '{"extensionId": "", "name": null, "version": null, "permissions": null}'
                      when 'clickfix_detected' then '{"snippet": null}'
                      when 'canary_cookie_triggered' then '{"cookieId": null, "cookieName": null}'
                      when 'screenshot' then '{"screenshotId": null}'
                      when 'wipe_completed' then '{"wipeId": null}'
                      else '{}' end::jsonb)::json order by o.place)
               from jsonb_array_elements(t.data->'observations') with ordinality as o(seen, place)), '[]'::json)) end
      from theirs t
     where e.position = t.position
    returning e.position
  )
  select count(*)::integer, max(position) into changed, reached from done;
end $$;
revoke all on function anonymize_telemetry(uuid, uuid, bigint, integer) from public;
grant execute on function anonymize_telemetry(uuid, uuid, bigint, integer) to castellan_store;
