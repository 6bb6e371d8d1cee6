import { conflict, notFound, unauthenticated, type Failure } from '../../../platform/kernel/failure.ts';
import type { AccountState, MfaState } from './account.ts';

/** The rules of a second factor, for accounts of tenants and of organizations alike. Undefined: nothing stands against it. */

interface Confirmed {
  /** The secret for which a code was right. */
  readonly totpSecretRef: string;
}
interface PresentedPlace {
  readonly backupCodesRef: string;
  /** Which of the codes it is. */
  readonly place: number;
}

/** Another secret takes the place of one that waits; one that is in use has to be given up first, which takes a password. */
export function refuseSetup(account: AccountState | undefined): Failure | undefined {
  if (!account) return notFound();
  return account.mfa ? conflict('multi-factor authentication is on already') : undefined;
}

/** The secret that was handed out has given its first code. */
export function refuseEnabling(account: AccountState | undefined, { totpSecretRef }: Confirmed): Failure | undefined {
  const refused = refuseSetup(account);
  if (refused) return refused;
  return account!.pendingTotpSecretRef === totpSecretRef ? undefined : conflict('the set-up was started anew');
}

/** A backup code lets in once, and not at all after its set was replaced. */
export function refuseBackupCode(
  mfa: MfaState | undefined,
  { backupCodesRef, place }: PresentedPlace,
): Failure | undefined {
  return mfa?.backupCodesRef !== backupCodesRef || mfa.usedBackupCodes.has(place)
    ? unauthenticated('invalid code')
    : undefined;
}
