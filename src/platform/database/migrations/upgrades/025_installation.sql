-- Which installation these tables belong to (`src/contexts/installation/`). The log says the same on a stream of its own; the two are compared
-- at every start, after every lost connection and every few seconds. One row.
create table installation (
  only_row   boolean     primary key default true check (only_row),
  id         uuid        not null,
  format     integer     not null,
  -- Fingerprints of the keys without which the log cannot be continued; they tell nothing of their keys.
  keys       jsonb       not null,
  -- The log was seen to say the same: from then on it cannot be an empty one.
  in_log     boolean     not null default false,
  adopted_at timestamptz not null default now()
);
alter table installation enable row level security;
create policy projector on installation to castellan_projector using (true) with check (true);
grant select, insert, update on installation to castellan_projector;
-- What kind of contradiction a running process has found.
alter table log_watch add column mismatch text;
