import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeOtherSessions {
  readonly adminId: string;
  readonly keptSessionId: string;
}

/** However many there are, and also one that begins at this moment: one event ends all but this one. */
export const revokeOtherSessions = defineCommand({
  name: 'RevokeOtherSessions',
  aggregate: tenant,
  stream: (_input: RevokeOtherSessions, { tenantId }) => tenantStream(tenantId),
  decide: (state, input) =>
    state.admins.has(input.adminId) ? accept([{ type: 'AdminOtherSessionsRevoked', data: input }]) : notFound(),
  freshens: ['admin_users', 'live-state'],
});
