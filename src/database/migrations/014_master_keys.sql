-- Which master key opens what, so that one can take another's place. The keys themselves are in no database.
create table master_keys (
  -- Derived from the key, and tells nothing of it.
  fingerprint text        primary key,
  since       timestamptz not null default now()
);
-- One that was retired opens nothing any more, signs nothing that is believed, and never comes back.
create table retired_master_keys (
  fingerprint text        primary key,
  retired_at  timestamptz not null default now()
);
-- Null: wrapped by a version of before, which did not say.
-- A process that still works with a master key that was retired can wrap nothing with it any more.
alter table tenant_keys add column wrapped_by text references master_keys;
create index on tenant_keys (wrapped_by);

-- Keys that everything depends on that was ever digested with them. Made from the first master key, and kept when it goes.
create table kept_keys (
  purpose    text  primary key,
  wrapped    bytea not null,
  wrapped_by text  not null references master_keys
);
-- For the owner alone: no role is granted anything, and none is shown a row.
alter table master_keys enable row level security;
alter table kept_keys enable row level security;
-- A process asks whether its own was retired while it runs.
alter table retired_master_keys enable row level security;
create policy everybody on retired_master_keys for select to castellan_service using (true);
grant select on retired_master_keys to castellan_service;
