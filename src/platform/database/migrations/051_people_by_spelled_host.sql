-- People, and the alerts of people, are also found by the second spelling: the hosts of their addresses are stored in ASCII.
create or replace function search_hits(wanted text, term text, other text, most integer) returns table (id uuid, at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  tenant uuid := castellan_tenant();
  pattern text := '%' || replace(replace(replace(lower(term), '\', '\\'), '%', '\%'), '_', '\_') || '%';
  spelled text := '%' || replace(replace(replace(lower(coalesce(other, term)), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  if tenant is null then return; end if;
  if wanted = 'users' then
    return query select e.user_id, e.created_at from employees e
      where e.tenant_id = tenant and (lower(e.email || ' ' || e.display_name) like pattern
        or lower(e.email || ' ' || e.display_name) like spelled)
      order by 2 desc, 1 limit most;
  elsif wanted = 'endpoints' then
    return query select e.endpoint_id, e.first_seen_at from endpoints e
      where e.tenant_id = tenant and e.domain in (
        select h.domain from endpoints h where h.tenant_id = tenant and h.domain like pattern
        union select h.domain from endpoints h where h.tenant_id = tenant and h.domain like spelled
        union select p.domain from endpoint_pages p
          where p.tenant_id = tenant and lower(p.url || ' ' || coalesce(p.title, '')) like pattern)
      order by 2 desc, 1 limit most;
  elsif wanted = 'alerts' then
    -- By letters, by the spelled host, by words, and by the person, each through its own index.
    return query select a.alert_id, a.raised_at from alert_texts a where a.tenant_id = tenant and a.body like pattern
      union select a.alert_id, a.raised_at from alert_texts a where a.tenant_id = tenant and a.body like spelled
      union select a.alert_id, a.raised_at from alert_texts a
        where term ~ '^[[:alnum:][:space:]]+$' and a.tenant_id = tenant
          and to_tsvector('english', a.body) @@ plainto_tsquery('english', term)
      union select a.alert_id, a.raised_at from alert_texts a
        where a.tenant_id = tenant and a.user_id in (
          select e.user_id from employees e
            where e.tenant_id = tenant and (lower(e.email || ' ' || e.display_name) like pattern
              or lower(e.email || ' ' || e.display_name) like spelled))
      order by 2 desc, 1 limit most;
  end if;
end $$;
