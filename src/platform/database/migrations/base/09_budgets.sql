-- Budgets: what is counted to be limited. A count is no history, so it is no event.

-- Calls to services that bill by the minute and by the day, under one tenant's account there.
create table provider_calls (
  tenant_id uuid        not null,
  service   text        not null,
  called_at timestamptz not null
);
create index on provider_calls (tenant_id, service, called_at);

alter table provider_calls enable row level security;
create policy tenant on provider_calls to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, delete on provider_calls to castellan_service;

-- Counts a call before it is made and returns 0, or returns how many milliseconds to wait. The windows slide, so the
-- limit holds whenever the service's own minute or day begins. The lock lets one caller decide at a time.
create function take_provider_call(for_tenant uuid, of_service text, per_minute integer, per_day integer) returns double precision
language plpgsql set search_path = public
as $$
declare
  moment timestamptz;
  free_again timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('provider-call/' || for_tenant || '/' || of_service, 0));
  moment := clock_timestamp();
  delete from provider_calls where tenant_id = for_tenant and service = of_service and called_at <= moment - interval '1 day';
  -- The call that has to leave its window before another fits in: the last but `per_minute`, or the last but `per_day`.
  select greatest(
      (select called_at + interval '1 minute' from provider_calls where tenant_id = for_tenant and service = of_service order by called_at desc offset per_minute - 1 limit 1),
      (select called_at + interval '1 day' from provider_calls where tenant_id = for_tenant and service = of_service order by called_at desc offset per_day - 1 limit 1))
    into free_again;
  if free_again > moment then
    return ceil(extract(epoch from free_again - moment) * 1000);
  end if;
  insert into provider_calls (tenant_id, service, called_at) values (for_tenant, of_service, moment);
  return 0;
end $$;
revoke all on function take_provider_call(uuid, text, integer, integer) from public;
grant execute on function take_provider_call(uuid, text, integer, integer) to castellan_service;

-- What devices and tenants may still send, counted by the time of arrival, whatever time a browser claims.
-- A budget without a row was never used, and is full.
create table arrival_budgets (
  tenant_id uuid             not null,
  -- What is counted, and of whom: `observations/<device>`, or `screenshot-bytes` of the tenant.
  name      text             not null,
  remaining double precision not null,
  counted_at timestamptz     not null,
  primary key (tenant_id, name)
) with (fillfactor = 70);

alter table arrival_budgets enable row level security;
create policy tenant on arrival_budgets to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, update on arrival_budgets to castellan_service;

-- Takes from all named budgets and returns 0, or takes nothing and returns the milliseconds until all have enough. Each
-- refills evenly by `per_day` up to its capacity. Rows are locked in the order of their names, so callers cannot
-- deadlock.
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
