import type { AccountState } from '../../src/contexts/identity/domain/account.ts';
import { unauthenticated, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithPasswords, WithVault } from '../ports.ts';
import { storeChosenPassword, type ChosenPassword } from './chosen-password.ts';

/** A new password from an admin who proved the current one. */
export interface OwnPasswordChange {
  readonly adminId: string;
  readonly newPassword: string;
  /**
   * The reference of the password that was proved: after another change, a reset or a recovery since then the command
   * is refused.
   */
  readonly provedRef: string;
  /** The admin's e-mail and name, which streams hold sealed. */
  readonly known: readonly string[];
}

const changedMeanwhile = () => unauthenticated('password_changed_meanwhile');

type Accounts = ReadonlyMap<string, AccountState>;

/** Checked again in `decide`; here it avoids the slow hash and a secret that nothing would refer to. */
export const storeOwnPassword = async (
  ports: WithVault & WithPasswords,
  { admins, name }: { readonly admins: Accounts; readonly name: string },
  { adminId, newPassword: password, provedRef, known }: OwnPasswordChange,
  at: Pick<ChosenPassword, 'tenantId' | 'place'>,
): Promise<{ readonly passwordRef: string } | Failure> =>
  admins.get(adminId)?.passwordRef === provedRef
    ? storeChosenPassword(ports, { ...at, password, known: [...known, name], replaces: provedRef })
    : changedMeanwhile();

/** Refused unless the account is active and still has the password that was proved. */
export function refuseUnlessProved(
  admins: Accounts,
  { adminId, provedRef }: Pick<OwnPasswordChange, 'adminId' | 'provedRef'>,
): Failure | undefined {
  const admin = admins.get(adminId);
  return admin?.passwordRef === provedRef && admin.status === 'active' ? undefined : changedMeanwhile();
}

export const ownPasswordChanged = (adminId: string, passwordRef: string) =>
  ({ adminId, passwordRef, mustChangePassword: false, reason: 'changed', passwordExpiresAt: null }) as const;
