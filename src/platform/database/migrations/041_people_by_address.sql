-- Row-level security lets only conditions that cannot disclose a row use an index, and the one on lists of addresses is
-- none of them: a filter for an address read all people of a client. The function looks at the caller's tenant only.
create function provisioned_people_at(client uuid, address text) returns setof uuid
language plpgsql stable rows 1 security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan
as $$
begin
  return query select p.user_id from provisioned_people p
    where p.tenant_id = castellan_tenant() and p.source_kind = 'scim' and p.source_id = client
      and p.emails_folded @> jsonb_build_array(address);
end $$;
revoke all on function provisioned_people_at(uuid, text) from public;
alter function provisioned_people_at(uuid, text) owner to castellan_projector;
grant execute on function provisioned_people_at(uuid, text) to castellan_reads;
