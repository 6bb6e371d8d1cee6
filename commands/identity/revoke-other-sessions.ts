import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeOtherSessions {
  readonly adminId: string;
  readonly keptSessionId: string;
}

/** One event ends all sessions but this one, including a session that begins concurrently. */
export const revokeOtherSessions = defineCommand({
  name: 'RevokeOtherSessions',
  aggregate: tenant,
  stream: (_input: RevokeOtherSessions, { tenantId }) => tenantStream(tenantId),
  decide: (state, input) =>
    state.admins.has(input.adminId) ? accept([{ type: 'AdminOtherSessionsRevoked', data: input }]) : notFound(),
  freshens: ['admin_users', 'live-state'],
});
