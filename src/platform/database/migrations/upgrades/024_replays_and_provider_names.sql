-- A replay passes the checks of the first request again. Two of them are made by commands, which a replay does not run: the role of the
-- caller, and the fresh proof where only some requests of a route need one. Both are null in rows of earlier versions, which end within
-- 24 hours: of those, every replay on such a route needs a proof.
alter table idempotent_answers add column role text;
alter table idempotent_answers add column reauthenticated boolean;

comment on column idempotent_answers.role is 'The role of the caller at the last attempt';
comment on column idempotent_answers.reauthenticated is 'Whether the caller had re-authenticated at one of the attempts';

-- The name of an identity provider is free text from a browser. Anonymous telemetry keeps the word that the read models have for it
-- (`src/contexts/discovery/domain/identity-provider.ts`), so a rebuild still comes to the same rows. Otherwise as in 022.
create or replace function anonymize_telemetry(tenant uuid, person uuid, after bigint, most integer, out changed integer, out reached bigint)
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
