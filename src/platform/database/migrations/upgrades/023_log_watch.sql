-- What the tables know of the log that they were made from (`src/contexts/installation/log-watch.ts`): an event that stands in it for good, and, while
-- a running process finds that the log is not the one it knew, that process's reason. One row.
create table log_watch (
  only_row   boolean     primary key default true check (only_row),
  position   bigint,
  event_id   uuid,
  doubt      text,
  doubted_at timestamptz
);
insert into log_watch default values;

alter table log_watch enable row level security;
create policy projector on log_watch to castellan_projector using (true) with check (true);
grant select, update on log_watch to castellan_projector;
