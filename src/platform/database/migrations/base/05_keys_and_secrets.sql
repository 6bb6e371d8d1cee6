-- Keys and secrets, always sealed. The master key and the key of the audit chain are in no database.

-- Every master key that this installation works with, by a fingerprint that reveals nothing of it.
create table master_keys (
  fingerprint text        primary key,
  since       timestamptz not null default now()
);
-- A retired master key opens nothing, its signatures are not accepted, and it cannot be used again.
create table retired_master_keys (
  fingerprint text        primary key,
  retired_at  timestamptz not null default now()
);

create table tenant_keys (
  tenant_id  uuid  primary key,
  wrapped    bytea not null,
  -- Null: wrapped by a version that did not record it. The reference stops a process whose master key was retired from
  -- wrapping anything more with it.
  wrapped_by text  references master_keys
);
create index on tenant_keys (wrapped_by);

-- Keys whose digests are stored all over the database. Derived from the first master key, and kept when it is replaced.
create table kept_keys (
  purpose    text  primary key,
  wrapped    bytea not null,
  wrapped_by text  not null references master_keys
);

create table person_keys (
  tenant_id uuid  not null,
  person_id uuid  not null,
  wrapped   bytea not null,
  primary key (tenant_id, person_id)
);
-- A person whose key was destroyed never gets a new one, so what was sealed stays sealed.
create table erased_persons (
  tenant_id uuid        not null,
  person_id uuid        not null,
  erased_at timestamptz not null default now(),
  primary key (tenant_id, person_id)
);
create table secrets (
  tenant_id  uuid        not null,
  id         uuid        not null,
  owner      text        not null,
  field      text        not null,
  sealed     bytea       not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

-- Which key the audit chain is made with, by a fingerprint that reveals nothing of it.
create table audit_key (
  fingerprint text        not null,
  since       timestamptz not null default now(),
  is_only     boolean     primary key default true check (is_only)
);

-- When each generation of the key that signs access tokens was first used. The generation before it stays valid for the
-- lifetime of one token from then on, and never again, however often a process starts.
create table token_key_generations (
  generation    integer     primary key,
  first_used_at timestamptz not null default now()
);

-- Of one tenant at a time.
do $$
declare table_name text;
begin
  foreach table_name in array array['tenant_keys', 'person_keys', 'erased_persons', 'secrets'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy tenant on %I to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant())', table_name);
    execute format('grant select, insert, update, delete on %I to castellan_service', table_name);
  end loop;
end $$;

-- Running processes ask whether their own master key was retired.
alter table retired_master_keys enable row level security;
create policy everybody on retired_master_keys for select to castellan_service using (true);
grant select on retired_master_keys to castellan_service;

-- Only for the owner: no role has a grant, and row-level security without a policy shows no row.
alter table master_keys enable row level security;
alter table kept_keys enable row level security;
alter table audit_key enable row level security;
alter table token_key_generations enable row level security;
