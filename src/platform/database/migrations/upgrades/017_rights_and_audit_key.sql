-- Grants, policies and owners of everything that migrations made, as statements that make them again (`src/platform/database/rights.ts`). They
-- travel with a dump; the roles that they name do not, and what names a missing role is lost in a restore.
create table kept_rights (
  ordinal   integer primary key,
  statement text    not null
);
-- Which key the audit chain is made with. The key itself is in no database.
create table audit_key (
  -- Derived from the key, and tells nothing of it.
  fingerprint text        not null,
  since       timestamptz not null default now(),
  is_only     boolean     primary key default true check (is_only)
);
-- For the owner alone: no role is granted anything, and none is shown a row.
alter table kept_rights enable row level security;
alter table audit_key enable row level security;
