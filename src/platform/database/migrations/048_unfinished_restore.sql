-- A restore that has begun and not ended (`src/contexts/installation/restore/unfinished-restore.ts`). At most one. While the
-- row is there, nothing is written, and the command that made it goes on where it was interrupted.
create table unfinished_restore (
  single         boolean     primary key default true check (single),
  id             uuid        not null,
  command        text        not null check (command in ('accept-log', 'rebuild-from-log')),
  mismatch       text        not null,
  reason         text        not null,
  log_end        bigint      not null,
  tables_reached bigint      not null,
  heads_dropped  jsonb       not null,
  persons_lost   integer     not null,
  tables_brought boolean     not null default false,
  begun_at       timestamptz not null default now()
);
alter table unfinished_restore enable row level security;
create policy projector on unfinished_restore to castellan_projector using (true) with check (true);
grant select, insert, update, delete on unfinished_restore to castellan_projector;
