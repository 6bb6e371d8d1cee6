import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';
import { ownPasswordChanged, refuseUnlessProved, storeOwnPassword, type OwnPasswordChange } from './own-password.ts';

interface ChangeOwnPassword extends OwnPasswordChange {
  /** The session that made the request. */
  readonly keptSessionId: string;
}

/** A change in a session, which proved the current password (OP-341). Every other session ends. */
export const changeOwnPassword = defineCommand({
  name: 'ChangeOwnPassword',
  aggregate: tenant,
  stream: (_input: ChangeOwnPassword, { tenantId }) => tenantStream(tenantId),
  async prepare(input: ChangeOwnPassword, ports: WithAggregates & WithVault & WithPasswords, { tenantId }) {
    const state = await ports.aggregates.load(tenant, tenantStream(tenantId));
    return storeOwnPassword(ports, state, input, { tenantId, place: adminPasswordLocation(input.adminId) });
  },
  decide({ admins }, input, _context, { passwordRef }: { passwordRef: string }) {
    const { adminId, provedRef, keptSessionId } = input;
    return (
      refuseUnlessProved(admins, input) ??
      accept(
        [
          { type: 'AdminPasswordChanged', data: ownPasswordChanged(adminId, passwordRef) },
          { type: 'AdminOtherSessionsRevoked', data: { adminId, keptSessionId } },
        ],
        { forget: [provedRef] },
      )
    );
  },
  freshens: ['admin_users', 'live-state'],
});
