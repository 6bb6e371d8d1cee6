import { conflict, notFound, unauthenticated, type Failure } from '../../../platform/kernel/failure.ts';
import type { AccountState, MfaState } from './account.ts';

/**
 * The rules of a second factor, for accounts of tenants and organizations. Functions return undefined if nothing
 * prevents the action.
 */

interface Confirmed {
  /** The secret that the right code belongs to. */
  readonly totpSecretRef: string;
}
interface PresentedPlace {
  readonly backupCodesRef: string;
  /** The index of the code. */
  readonly place: number;
}

/**
 * A new secret replaces one that awaits its first code. One in use has to be disabled first, which takes a password.
 */
export function refuseSetup(account: AccountState | undefined): Failure | undefined {
  if (!account) return notFound();
  return account.mfa ? conflict('mfa_already_enabled') : undefined;
}

/** Requires that the code belongs to the secret that was handed out last. */
export function refuseEnabling(account: AccountState | undefined, { totpSecretRef }: Confirmed): Failure | undefined {
  const refused = refuseSetup(account);
  if (refused) return refused;
  return account!.pendingTotpSecretRef === totpSecretRef ? undefined : conflict('mfa_restarted');
}

/** A backup code is accepted once, and never after its set was replaced. */
export function refuseBackupCode(
  mfa: MfaState | undefined,
  { backupCodesRef, place }: PresentedPlace,
): Failure | undefined {
  return mfa?.backupCodesRef !== backupCodesRef || mfa.usedBackupCodes.has(place)
    ? unauthenticated('invalid_code')
    : undefined;
}
