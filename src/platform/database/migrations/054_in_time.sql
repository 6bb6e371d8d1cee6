-- A server or network that stood still processes later what was sent to it before. Its sender has long given it up: it has
-- said that nothing happened. With this, such a statement does nothing (`src/platform/database/server-clock.ts`).
--
-- `deadline` is in epoch milliseconds of this server's clock; null: none.
create function in_time(deadline bigint) returns boolean language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  if extract(epoch from clock_timestamp()) * 1000 > deadline then
    raise exception 'sent too long ago: its sender has given it up' using errcode = 'CA002';
  end if;
  return true;
end $$;
revoke all on function in_time from public;
grant execute on function in_time to castellan_service, castellan_store;
