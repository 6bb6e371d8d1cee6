-- Which of these numbers (seats of a license, slots of a collection) are held. Without statistics a search with
-- `number = any(…)` took the primary key, and read all numbers of the tenant each time. Sorting is off and only the
-- index on numbers has this order, so each number is looked up in it. The function looks at the caller's tenant only.
create function held_numbers(of_kind text, asked integer[]) returns setof integer
language plpgsql stable security definer set search_path = public, pg_temp set enable_sort = off set enable_seqscan = off
as $$
declare
  tenant constant uuid := castellan_tenant();
begin
  return query select each.number from unnest(asked) as each(number)
    cross join lateral (
      select from claimed_numbers c
       where (c.tenant_id, c.kind, c.number) >= (tenant, of_kind, each.number)
         and (c.tenant_id, c.kind, c.number) <= (tenant, of_kind, each.number)
       order by c.tenant_id, c.kind, c.number limit 1) held;
end $$;
revoke all on function held_numbers(text, integer[]) from public;
alter function held_numbers(text, integer[]) owner to castellan_projector;
grant execute on function held_numbers(text, integer[]) to castellan_reads;
