-- What the installation knows of itself.

-- Which installation these tables belong to (`src/contexts/installation/`). A stream of the log says the same. The service
-- compares the two at every start, after every lost connection and every few seconds. One row.
create table installation (
  only_row   boolean     primary key default true check (only_row),
  id         uuid        not null,
  format     integer     not null,
  -- Fingerprints of the keys that the log cannot be continued without. They reveal nothing of the keys.
  keys       jsonb       not null,
  -- The log was once seen to say the same, so from then on it cannot be empty.
  in_log     boolean     not null default false,
  adopted_at timestamptz not null default now()
);
alter table installation enable row level security;
create policy projector on installation to castellan_projector using (true) with check (true);
grant select, insert, update on installation to castellan_projector;

-- Grants, policies and owners of everything that migrations made, as statements that make them again
-- (`src/platform/database/rights.ts`). They travel with a dump. Roles do not, and a restore drops what names a missing role.
-- Only for the owner.
create table kept_rights (
  ordinal   integer primary key,
  statement text    not null
);
alter table kept_rights enable row level security;

-- The copy of the event log into another store, and back (`src/contexts/installation/log-copy/`). An operator's command works as the owner.
create table log_copies (
  only_row        boolean     primary key default true check (only_row),
  id              uuid        not null,
  direction       text        not null check (direction in ('to', 'from')),
  -- The servers on the other side, without user and password.
  servers         text        not null,
  source_position bigint      not null default 0,
  -- The newest copied event in the target.
  target_position bigint      not null default 0,
  events          bigint      not null default 0,
  started_at      timestamptz not null default now(),
  finished_at     timestamptz
);
-- Per tenant: the number of events, and a hash over all of them in order, as they were read and as they were written.
create table log_copy_tenants (
  tenant_id uuid   primary key,
  events    bigint not null,
  hash      bytea  not null
);
-- The positions of lasting events in both logs. Telemetry is left out: it is the bulk, and nothing refers to its
-- positions for long.
create table log_copy_positions (
  from_position bigint primary key,
  to_position   bigint not null
);
-- The claims and the retention that the other server has. What differs from them is written next.
create table log_copy_claims (
  tenant_id uuid  not null,
  kind      text  not null,
  digest    bytea not null,
  stream    text  not null,
  primary key (tenant_id, kind, digest)
);
create table log_copy_retention (
  stream       text    primary key,
  max_age_days integer not null
);

do $$
declare table_name text;
begin
  foreach table_name in array array['log_copies', 'log_copy_tenants', 'log_copy_positions', 'log_copy_claims', 'log_copy_retention'] loop
    execute format('alter table %I enable row level security', table_name);
  end loop;
end $$;
-- The audit head sealer has to know whether a copy is under way.
create policy projector on log_copies for select to castellan_projector using (true);
grant select on log_copies to castellan_projector;
