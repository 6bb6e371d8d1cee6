import type { Availability } from '../../src/contexts/on-call/domain/reachability.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import {
  at,
  defineReadModel,
  id,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = { admin_id: id, since: timestamp, availability: text as Column<Availability> };
export type AdminAvailabilityRow = Row<{ columns: typeof columns }>;

const since = (event: RecordedEvent<{ type: string; data: { adminId: string } }>, availability: Availability) => {
  const row = { admin_id: event.data.adminId, since: at(event), availability };
  return { key: { admin_id: row.admin_id, since: row.since }, fold: () => row };
};

/** From when on an administrator's account could be used, or not: for "who could be reached then?". */
export const adminAvailability = defineReadModel({
  name: 'admin_availability',
  version: 1,
  lane: 'main',
  columns,
  key: ['admin_id', 'since'],
  families: [tenantEvents],
  on: {
    AdminUserCreated: (event) => since(event, 'active'),
    AdminSuspended: (event) => since(event, 'suspended'),
    AdminReinstated: (event) => since(event, 'active'),
    AdminUserDeleted: (event) => since(event, 'deleted'),
  },
});
