-- Keys and secrets at rest: only ciphertext. MASTER_KEY is in no database.
create table tenant_keys (
  tenant_id uuid  primary key,
  wrapped   bytea not null
);
create table person_keys (
  tenant_id uuid  not null,
  person_id uuid  not null,
  wrapped   bytea not null,
  primary key (tenant_id, person_id)
);
-- A person whose key was destroyed never gets a new one: what was sealed stays sealed for ever.
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

do $$
declare table_name text;
begin
  foreach table_name in array array['tenant_keys', 'person_keys', 'erased_persons', 'secrets'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy tenant on %I to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant())', table_name);
    execute format('grant select, insert, update, delete on %I to castellan_service', table_name);
  end loop;
end $$;
