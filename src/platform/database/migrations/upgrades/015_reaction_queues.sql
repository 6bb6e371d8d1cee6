-- Tenants that a reaction has set aside: their events after `position` wait, up to the reaction's own checkpoint, and are worked in
-- turns with those of other tenants. One row per reaction and tenant, however long the backlog (`src/platform/projector/tenant-backlogs.ts`).
create table tenant_backlogs (
  name       text        not null,
  version    integer     not null,
  generation integer     not null,
  tenant_id  uuid        not null,
  position   bigint      not null,
  set_aside_at timestamptz not null default now(),
  -- Why the tenant's events cannot be worked at present.
  failure    text,
  primary key (name, version, generation, tenant_id)
);
alter table tenant_backlogs enable row level security;
create policy projector on tenant_backlogs to castellan_projector using (true) with check (true);
grant select, insert, update, delete on tenant_backlogs to castellan_projector;

-- The type is recorded when an operator skips what waits. Null in rows of before.
alter table parked_events add column type text, add column skip_asked boolean not null default false;
-- Each event asks whether its stream is parked, and a stream may wait with millions of events.
create index parked_events_by_stream on parked_events (name, version, generation, stream, position);
-- What operators have asked for is looked up every second.
create index parked_events_asked on parked_events (name, version, generation, tenant_id) where retry_asked or skip_asked;
