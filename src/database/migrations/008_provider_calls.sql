-- Calls to services that sell their answers by the minute and by the day, of one tenant's own account there. Counting is no
-- history: what is older than a day is of no use to anybody.
create table provider_calls (
  tenant_id uuid        not null,
  service   text        not null,
  called_at timestamptz not null
);
create index on provider_calls (tenant_id, service, called_at);

alter table provider_calls enable row level security;
create policy tenant on provider_calls to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, delete on provider_calls to castellan_service;

-- Counts a call before it is made, or answers how many milliseconds to wait. Windows slide, so that no minute and no day has
-- more, wherever the other side begins its own; one caller at a time, so that none of many is let through twice.
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
  -- The call that has to be out of its window before another fits in: the last but `per_minute`, or the last but `per_day`.
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
