-- Who says at present that the log is not the one that it was (`src/contexts/installation/log-doubts.ts`): each process for
-- itself, so that one that has ended, or finds the log right again, takes back nothing of what another one says. The columns
-- of `log_watch` stay for processes of the version before.
create table log_doubts (
  process    uuid        primary key,
  mismatch   text        not null,
  doubt      text        not null,
  doubted_at timestamptz not null default now()
);
alter table log_doubts enable row level security;
create policy projector on log_doubts to castellan_projector using (true) with check (true);
grant select, insert, update, delete on log_doubts to castellan_projector;
