import type { WithPasswords, WithVault } from '../ports.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import { refuseGuessable } from '../../src/contexts/identity/domain/password-rule.ts';

type VaultPlace = Parameters<WithVault['vault']['put']>[1];

export interface ChosenPassword {
  readonly tenantId: TenantId;
  readonly place: VaultPlace;
  readonly password: string;
  /** What others know of its owner: names, e-mail, name of the tenant or organization. */
  readonly known: readonly string[];
  /** The reference of the password that it replaces. */
  readonly replaces: string | undefined;
}

/** Stores the hash of a password that its owner chose. It must be neither guessable nor the previous one (OP-037). */
export async function storeChosenPassword(
  { vault, passwords }: WithVault & WithPasswords,
  { tenantId, place, password, known, replaces }: ChosenPassword,
): Promise<{ readonly passwordRef: string } | Failure> {
  const guessable = refuseGuessable('newPassword', password, known);
  if (guessable) return guessable;
  const old = replaces === undefined ? undefined : await vault.get(tenantId, place, replaces);
  if (old && (await passwords.verify(old.toString(), password)))
    return invalid('newPassword', 'must differ from the old password');
  return { passwordRef: await vault.put(tenantId, place, await passwords.hash(password)) };
}

export interface NewAccountPassword {
  readonly tenantId: TenantId;
  readonly place: VaultPlace;
  readonly password: string;
  readonly known: readonly string[];
  /** True for a password that someone other than its owner has seen: it may be generated, and is soon replaced. */
  readonly isTemporary: boolean;
}

/** Stores the hash of the first password of an account. */
export async function storeFirstPassword(
  { vault, passwords }: WithVault & WithPasswords,
  { tenantId, place, password, known, isTemporary }: NewAccountPassword,
): Promise<{ readonly passwordRef: string } | Failure> {
  const guessable = isTemporary ? undefined : refuseGuessable('password', password, known);
  return guessable ?? { passwordRef: await vault.put(tenantId, place, await passwords.hash(password)) };
}
