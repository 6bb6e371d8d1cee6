import { z } from 'zod';
import type { AdminSessionRow } from '../../projections/identity/admin-sessions.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export const ownSessionView = z
  .object({
    id: z.uuid(),
    /** True for the session of this request. */
    current: z.boolean(),
    method: z.enum(['setup', 'password', 'password+totp', 'password+backup_code', 'oidc', 'saml', 'org_sso']),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    createdAt: z.iso.datetime(),
    /** Unless it is refreshed first. */
    expiresAt: z.iso.datetime(),
  })
  .meta({ title: 'Session' });
export type OwnSessionView = z.output<typeof ownSessionView>;

interface Asked {
  readonly adminId: string;
  readonly currentId: string;
  /** The sessions that can still be refreshed, and until when. */
  readonly expiries: ReadonlyMap<string, string>;
}

const sqlFor = (accounts: 'admin_users' | 'org_admins') => `
  select s.* from admin_sessions s
    join ${accounts} u on u.tenant_id = s.tenant_id and u.admin_id = s.admin_id
   where s.tenant_id = $1 and s.admin_id = $2 and s.session_id = any($3)
     and (s.epoch = u.session_epoch or s.session_id = u.kept_session_id)
   order by s.created_at desc, s.session_id`;

export type OwnSessions = Query<Asked, { sessions: OwnSessionView[]; total: number }>;

const ownSessions =
  (sql: string): OwnSessions =>
  async (reads, { adminId, currentId, expiries }) => {
    const rows = await reads.rows<AdminSessionRow>(sql, [adminId, [...expiries.keys()]]);
    const sessions = rows.map((row) => ({
      id: row.session_id,
      current: row.session_id === currentId,
      method: row.method,
      ipAddress: row.ip_address,
      userAgent: row.user_agent,
      createdAt: row.created_at,
      expiresAt: expiries.get(row.session_id)!,
    }));
    return { sessions, total: sessions.length };
  };

/** The admin's own valid sessions, newest first. */
export const listOwnSessions = ownSessions(sqlFor('admin_users'));
/** Like `listOwnSessions`, in the organization's scope. */
export const listOrgAdminSessions = ownSessions(sqlFor('org_admins'));
