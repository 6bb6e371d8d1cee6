import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import { isFailure, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest, WithPasswords, WithVault } from '../ports.ts';
import { storeFirstPassword, type NewAccountPassword } from './chosen-password.ts';

/** An administrator's account, of a tenant or of an organization. */
export interface NewAdminAccount {
  readonly adminId: string;
  readonly email: string;
  readonly displayName: string;
  readonly password: string;
  /** True for a password that someone other than its owner has seen. */
  readonly mustChangePassword: boolean;
}

export interface NewAdminFacts {
  readonly passwordRef: string;
  readonly accountDigest: string;
}

/** `ownerName`: the name of the tenant or organization, which a password must not contain. */
export async function prepareAdminAccount(
  ports: WithVault & WithPasswords & WithAccountDigest,
  { email, displayName, password, mustChangePassword }: NewAdminAccount,
  { ownerName, ...at }: Pick<NewAccountPassword, 'tenantId' | 'place'> & { readonly ownerName: string },
): Promise<NewAdminFacts | Failure> {
  const known = [email, displayName, ownerName];
  const stored = await storeFirstPassword(ports, { ...at, password, known, isTemporary: mustChangePassword });
  return isFailure(stored) ? stored : { ...stored, accountDigest: ports.accountDigest(email) };
}

/** The fields that the events of both kinds of account share. `now`: epoch milliseconds. */
export const createdAccount = (
  { adminId, email, displayName, mustChangePassword }: NewAdminAccount,
  { passwordRef, accountDigest }: NewAdminFacts,
  now: number,
) => ({
  adminId,
  email,
  accountDigest,
  displayName,
  passwordRef,
  mustChangePassword,
  passwordExpiresAt: mustChangePassword ? temporaryPasswordExpiry(now) : null,
});
