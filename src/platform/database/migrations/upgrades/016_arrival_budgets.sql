-- What devices and tenants may still send, counted when it arrives: whatever days a browser claims to report of, this counts the
-- days that pass here. A budget that was never used has no row and is full. Counting is no history: a row is all there is.
create table arrival_budgets (
  tenant_id uuid             not null,
  -- What is counted, and of whom: `observations/<device>`, `screenshot-bytes` of the tenant.
  name      text             not null,
  remaining double precision not null,
  counted_at timestamptz     not null,
  primary key (tenant_id, name)
) with (fillfactor = 70);

alter table arrival_budgets enable row level security;
create policy tenant on arrival_budgets to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, update on arrival_budgets to castellan_service;

-- Takes from all of the budgets, or from none: then returns the milliseconds until all of them have as much. Each refills evenly by
-- `per_day` up to its capacity. Callers name the budgets in one order, so that they do not lock each other out.
create function take_arrivals(for_tenant uuid, names text[], capacities double precision[], per_day double precision[], wanted double precision[]) returns double precision
language plpgsql set search_path = public
as $$
declare
  budget record;
  wait double precision := 0;
  moment timestamptz;
begin
  insert into arrival_budgets (tenant_id, name, remaining, counted_at)
    select for_tenant, b.name, b.capacity, clock_timestamp() from unnest(names, capacities) as b (name, capacity)
    on conflict do nothing;
  perform 1 from arrival_budgets a where a.tenant_id = for_tenant and a.name = any (names) order by a.name for update;
  moment := clock_timestamp();
  for budget in
    select b.*, least(b.capacity, a.remaining + greatest(0, extract(epoch from moment - a.counted_at)) * b.daily / 86400) as level
      from unnest(names, capacities, per_day, wanted) as b (name, capacity, daily, want)
      join arrival_budgets a on a.tenant_id = for_tenant and a.name = b.name
  loop
    if budget.level < budget.want then
      wait := greatest(wait, ceil((budget.want - budget.level) / budget.daily * 86400000));
    end if;
  end loop;
  if wait > 0 then
    return wait;
  end if;
  update arrival_budgets a
     set remaining = least(b.capacity, least(b.capacity, a.remaining + greatest(0, extract(epoch from moment - a.counted_at)) * b.daily / 86400) - b.want),
         counted_at = moment
    from unnest(names, capacities, per_day, wanted) as b (name, capacity, daily, want)
   where a.tenant_id = for_tenant and a.name = b.name;
  return 0;
end $$;
revoke all on function take_arrivals(uuid, text[], double precision[], double precision[], double precision[]) from public;
grant execute on function take_arrivals(uuid, text[], double precision[], double precision[], double precision[]) to castellan_service;
