-- Rows until now held an unkeyed SHA-256 of the request, by which a password in it could be guessed. They would have
-- expired within 24 hours; a request that was under way during the upgrade is judged like a new one.
truncate idempotent_answers;

-- Random, sealed, one per key: the ids and secrets that the request creates are derived from it, so a retry makes the same ones.
alter table idempotent_answers add column sealed_seed bytea;
-- Which attempt is responsible for the row, and until when it counts as running. It extends this while it works.
alter table idempotent_answers add column attempt uuid;
alter table idempotent_answers add column running_until timestamptz;
-- The X-Log-Position of the response.
alter table idempotent_answers add column log_position bigint;

comment on column idempotent_answers.digest is 'HMAC of the key';
comment on column idempotent_answers.request_hash is 'HMAC of method, URL and body';

-- An erased person's telemetry says who was on which host. Telemetry is in no audit chain, and retention drops it anyway, so the log
-- gives it up: the event keeps its position and what was counted of it, and loses person, device, stream, id and everything that was
-- sealed. In a stream that another person has used since, the newest event only keeps its place, as an expired one does: the next append
-- to that stream expects its revision. Returns how many events were changed, and the position of the last.
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
                      when 'auth_flow' then '{"relyingParty": null}'
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
