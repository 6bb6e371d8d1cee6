import { sessionEvents, type SessionEvent } from '../../src/contexts/identity/domain/session-events.ts';
import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

type Method = Extract<SessionEvent, { type: 'SessionStarted' }>['data']['method'];

const columns = {
  session_id: id,
  admin_id: id,
  epoch: integer,
  method: text as Column<Method>,
  ip_address: nullable(text),
  user_agent: nullable(text),
  created_at: timestamp,
};
export type AdminSessionRow = Row<{ columns: typeof columns }>;

/**
 * Sessions of tenant or organization admins that were not ended individually. Revoked epochs are in the admin's own
 * row.
 */
export const adminSessions = defineReadModel({
  name: 'admin_sessions',
  version: 3,
  lane: 'main',
  columns,
  key: ['session_id'],
  indexes: [['admin_id', 'created_at']],
  families: [sessionEvents, tenantEvents, organizationEvents],
  on: {
    SessionStarted: (event) => {
      const { sessionId, subjectId, epoch, method } = event.data;
      const { ip = null, userAgent = null } = event.metadata.actor;
      const row: AdminSessionRow = {
        session_id: sessionId,
        admin_id: subjectId,
        epoch,
        method,
        ip_address: ip,
        user_agent: userAgent,
        created_at: at(event),
      };
      return { key: { session_id: sessionId }, fold: () => row, begins: true };
    },
    SessionEnded: (event) => ({ key: { session_id: event.data.sessionId }, fold: () => undefined }),
    OrgAdminDeleted: (event) => ({ purge: { admin_id: event.data.adminId } }),
    AdminUserDeleted: (event) => ({ purge: { admin_id: event.data.adminId } }),
  },
});
