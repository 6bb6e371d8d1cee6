-- Search over read models.

-- Trigrams, and the tenant's id before them in the same index. Both extensions are "trusted": a user who may create
-- objects in the database may install them.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- LIKE and @@ are not leakproof, so under row-level security they may not use an index: a search as castellan_reads
-- would read all rows of the tenant. This function runs as the owner of the read models and filters by tenant itself.
-- It returns only ids of the connection's own tenant, which no argument can change. Newest first, at most `most`.
create function search_hits(wanted text, term text, most integer) returns table (id uuid, at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  tenant uuid := castellan_tenant();
  pattern text := '%' || replace(replace(replace(lower(term), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  if tenant is null then return; end if;
  if wanted = 'users' then
    return query select e.user_id, e.created_at from employees e
      where e.tenant_id = tenant and lower(e.email || ' ' || e.display_name) like pattern
      order by 2 desc, 1 limit most;
  elsif wanted = 'endpoints' then
    return query select e.endpoint_id, e.first_seen_at from endpoints e
      where e.tenant_id = tenant and e.domain in (
        select h.domain from endpoints h where h.tenant_id = tenant and h.domain like pattern
        union select p.domain from endpoint_pages p
          where p.tenant_id = tenant and lower(p.url || ' ' || coalesce(p.title, '')) like pattern)
      order by 2 desc, 1 limit most;
  elsif wanted = 'alerts' then
    -- By letters and by words, each through its own index. An "or" of both would read the words of every alert.
    return query select a.alert_id, a.raised_at from alert_texts a where a.tenant_id = tenant and a.body like pattern
      union select a.alert_id, a.raised_at from alert_texts a
        where a.tenant_id = tenant and to_tsvector('english', a.body) @@ websearch_to_tsquery('english', term)
      order by 2 desc, 1 limit most;
  end if;
end $$;
revoke all on function search_hits(text, text, integer) from public;
alter function search_hits(text, text, integer) owner to castellan_projector;
grant execute on function search_hits(text, text, integer) to castellan_reads;
