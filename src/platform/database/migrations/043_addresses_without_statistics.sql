-- Until autovacuum has counted the rows, the planner took another index for an address, and read all people of a client.
-- Conditions on tenant and client that no index answers leave it the one on addresses only; few people have the same.
create or replace function provisioned_people_at(client uuid, address text) returns setof uuid
language plpgsql stable rows 1 security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_indexscan = off
as $$
begin
  return query select p.user_id from provisioned_people p
    where p.emails_folded @> jsonb_build_array(address)
      and p.tenant_id::text = castellan_tenant()::text and p.source_kind || '' = 'scim' and p.source_id::text = client::text;
end $$;
