import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import type { TenantEvent } from '../../src/contexts/tenants/domain/events.ts';
import { adminByAccount, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { WithPasswords, WithVault } from '../ports.ts';

interface RecoverAdmin {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly tempPassword: string;
}

/**
 * Recovers an account in any state (F106): active again, without second factor and sessions, with a password that has
 * to be changed. A lock belongs to the login's stream and is ended separately.
 */
export const recoverAdmin = defineCommand({
  name: 'RecoverAdmin',
  aggregate: tenant,
  stream: (_input: RecoverAdmin, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { adminId, tempPassword }: RecoverAdmin,
    { vault, passwords }: WithVault & WithPasswords,
    { tenantId },
  ) {
    return {
      passwordRef: await vault.put(tenantId, adminPasswordLocation(adminId), await passwords.hash(tempPassword)),
    };
  },
  decide(state, { adminId, accountDigest }, { now }, { passwordRef }: { passwordRef: string }) {
    const admin = adminByAccount(state, accountDigest);
    if (admin?.adminId !== adminId) return notFound();
    const passwordExpiresAt = temporaryPasswordExpiry(now);
    const mfaSecrets = secretsOfMfa(admin);
    const events: TenantEvent[] = [
      {
        type: 'AdminPasswordChanged',
        data: { adminId, passwordRef, mustChangePassword: true, reason: 'recovered', passwordExpiresAt },
      },
      { type: 'AdminSessionsRevoked', data: { adminId, reason: 'recovered' } },
    ];
    if (mfaSecrets.length > 0) events.push({ type: 'AdminMfaDisabled', data: { adminId, reason: 'recovered' } });
    if (admin.status === 'suspended') events.push({ type: 'AdminReinstated', data: { adminId } });
    return accept(events, { forget: [admin.passwordRef, ...mfaSecrets] });
  },
  freshens: ['admin_users', 'live-state'],
});
