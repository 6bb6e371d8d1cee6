-- The process that forwards the log to log destinations. Its epoch is the fencing token of every checkpoint below.
create table log_forwarding_lease (
  single       boolean     primary key default true check (single),
  owner        text        not null,
  epoch        bigint      not null,
  leased_until timestamptz not null
);

-- How far each destination has come: its live checkpoint (`checkpoint_id` is the destination's id), and at most one that sends
-- a range of the past. A checkpoint moves only after the sink has acknowledged everything up to `position`.
create table log_forwarding (
  tenant_id        uuid        not null,
  destination_id   uuid        not null,
  checkpoint_id        uuid        not null,
  -- For a range of the past: the times of its events, and the last position that may belong to it.
  from_at          timestamptz,
  to_at            timestamptz,
  until_position   bigint,
  position         bigint      not null,
  -- Undelivered events in (position, counted_to]; later events are counted by the process that forwards.
  lag_events       bigint      not null default 0,
  counted_to       bigint      not null,
  -- The time of the oldest event that is known to wait.
  waiting_since    timestamptz,
  status           text        not null default 'unknown',
  last_error       text,
  last_delivery_at timestamptz,
  delivered        bigint      not null default 0,
  primary key (tenant_id, destination_id, checkpoint_id)
);

-- Records that a destination refused for good. The content stays in the log, so that an erasure reaches it.
create table log_refused_records (
  tenant_id      uuid        not null,
  destination_id uuid        not null,
  record_id      text        not null,
  record_type    text        not null,
  position       bigint      not null,
  reason         text        not null,
  refused_at     timestamptz not null default now(),
  primary key (tenant_id, destination_id, record_id, record_type)
);
create index on log_refused_records (tenant_id, destination_id, refused_at desc, record_id);

alter table log_forwarding_lease enable row level security;
alter table log_forwarding enable row level security;
alter table log_refused_records enable row level security;
create policy projector on log_forwarding_lease to castellan_projector using (true) with check (true);
create policy projector on log_forwarding to castellan_projector using (true) with check (true);
create policy projector on log_refused_records to castellan_projector using (true) with check (true);
create policy tenant on log_forwarding to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
create policy tenant on log_refused_records to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant());
grant select, insert, update, delete on log_forwarding_lease, log_forwarding, log_refused_records to castellan_projector;
grant select on log_forwarding to castellan_service;
grant select, update, delete on log_refused_records to castellan_service;
