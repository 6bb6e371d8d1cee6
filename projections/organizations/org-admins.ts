import type { OrgRole } from '../../src/domain/identity/roles.ts';
import { organizationEvents } from '../../src/domain/organizations/events.ts';
import { at, defineReadModel, id, text, timestamp, type Column, type Row } from '../../src/kernel/read-model.ts';

const columns = {
  admin_id: id,
  email: text,
  display_name: text,
  role: text as Column<OrgRole>,
  status: text as Column<'active' | 'suspended'>,
  created_at: timestamp,
};
export type OrgAdminRow = Row<{ columns: typeof columns }>;

/** The admins of an organization, with the names that tokens do not carry. */
export const orgAdmins = defineReadModel({
  name: 'org_admins',
  version: 2,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [organizationEvents],
  on: {
    OrgAdminCreated: (event) => ({
      key: { admin_id: event.data.adminId },
      fold: () => ({
        admin_id: event.data.adminId,
        email: event.data.email,
        display_name: event.data.displayName,
        role: event.data.role,
        status: 'active',
        created_at: at(event),
      }),
    }),
    OrgAdminSuspended: (event) => ({ key: { admin_id: event.data.adminId }, fold: (row) => row && { ...row, status: 'suspended' } }),
    OrgAdminReinstated: (event) => ({ key: { admin_id: event.data.adminId }, fold: (row) => row && { ...row, status: 'active' } }),
  },
});
