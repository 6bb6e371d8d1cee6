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
export interface PresentedPlace {
  readonly backupCodesRef: string;
  /** The index of the code. */
  readonly place: number;
  /** The session that the sign-in begins. */
  readonly sessionId?: string | undefined;
}
interface SignInBegun {
  readonly sessionId?: string | undefined;
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

/** True if a code was used by the same sign-in before. */
export const isSameSignIn = (before: SignInBegun, now: SignInBegun): boolean =>
  now.sessionId !== undefined && now.sessionId === before.sessionId;

/**
 * A backup code is accepted for one sign-in, and never after its set was replaced. A sign-in that something away has interrupted
 * is repeated with its code: `used-before`.
 */
export function useOfBackupCode(
  mfa: MfaState | undefined,
  { backupCodesRef, place, sessionId }: PresentedPlace,
): 'first' | 'used-before' | Failure {
  if (mfa?.backupCodesRef !== backupCodesRef) return unauthenticated('invalid_code');
  if (!mfa.usedBackupCodes.has(place)) return 'first';
  return isSameSignIn({ sessionId: mfa.usedBackupCodes.get(place) }, { sessionId })
    ? 'used-before'
    : unauthenticated('invalid_code');
}
