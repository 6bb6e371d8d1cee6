/**
 * The part of an administrator's account that signing in needs, for tenants and organizations. The two streams have
 * different events; this module defines their common meaning for an account.
 */
export interface AccountState {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly status: 'active' | 'suspended';
  readonly passwordRef: string;
  readonly mustChangePassword: boolean;
  /**
   * Epoch milliseconds after which a temporary password is no longer accepted; undefined for a password chosen by its
   * owner.
   */
  readonly passwordExpiresAt: number | undefined;
  /** Sessions that began under a lower epoch are revoked. */
  readonly sessionEpoch: number;
  /** The one session that survived the latest revocation, because its holder revoked the others from it. */
  readonly keptSessionId: string | undefined;
  readonly mfa: MfaState | undefined;
  /** A secret that was handed out and awaits its first code. */
  readonly pendingTotpSecretRef: string | undefined;
}

/** An enabled second factor. The secret and the digests of the backup codes are references into the vault. */
export interface MfaState {
  readonly totpSecretRef: string;
  readonly backupCodesRef: string;
  /** The time step (RFC 6238) of the code that enabled the factor: that code and older ones are used up. */
  readonly enabledStep: number;
  /** Indexes of the used backup codes, with the sessions of the sign-ins that used them. */
  readonly usedBackupCodes: ReadonlyMap<number, string | undefined>;
}

interface NewAccount {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly passwordRef: string;
  readonly mustChangePassword: boolean;
  readonly passwordExpiresAt: string | null;
}

export const newAccount = ({
  adminId,
  accountDigest,
  passwordRef,
  mustChangePassword,
  passwordExpiresAt,
}: NewAccount): AccountState => ({
  adminId,
  accountDigest,
  status: 'active',
  passwordRef,
  mustChangePassword,
  passwordExpiresAt: instantOf(passwordExpiresAt),
  sessionEpoch: 0,
  keptSessionId: undefined,
  mfa: undefined,
  pendingTotpSecretRef: undefined,
});

const instantOf = (written: string | null): number | undefined => (written === null ? undefined : Date.parse(written));

export const withPassword = <A extends AccountState>(
  account: A,
  {
    passwordRef,
    mustChangePassword,
    passwordExpiresAt,
  }: Pick<NewAccount, 'passwordRef' | 'mustChangePassword' | 'passwordExpiresAt'>,
): A => ({
  ...account,
  passwordRef,
  mustChangePassword,
  passwordExpiresAt: instantOf(passwordExpiresAt),
});

/** Ends every session except the kept one. */
export const withoutSessions = <A extends AccountState>(account: A, keptSessionId?: string): A => ({
  ...account,
  sessionEpoch: account.sessionEpoch + 1,
  keptSessionId,
});

export const withMfa = <A extends AccountState>(
  account: A,
  { totpSecretRef, backupCodesRef, step }: { totpSecretRef: string; backupCodesRef: string; step: number },
): A => ({
  ...account,
  pendingTotpSecretRef: undefined,
  mfa: { totpSecretRef, backupCodesRef, enabledStep: step, usedBackupCodes: new Map() },
});

export const withoutMfa = <A extends AccountState>(account: A): A => ({
  ...account,
  mfa: undefined,
  pendingTotpSecretRef: undefined,
});

export const withBackupCodeUsed = <A extends AccountState>(
  account: A,
  { place, sessionId }: { readonly place: number; readonly sessionId?: string | undefined },
): A =>
  account.mfa
    ? {
        ...account,
        mfa: { ...account.mfa, usedBackupCodes: new Map(account.mfa.usedBackupCodes).set(place, sessionId) },
      }
    : account;

/** True if a temporary password has expired, although it may be the right one. */
export const isPasswordExpired = ({ passwordExpiresAt }: AccountState, now: number): boolean =>
  passwordExpiresAt !== undefined && passwordExpiresAt <= now;

/** True if a session that began under `epoch` is still valid. */
export const admitsSession = (
  { status, sessionEpoch, keptSessionId }: AccountState,
  sessionId: string,
  epoch: number,
): boolean => status === 'active' && (epoch === sessionEpoch || sessionId === keptSessionId);

/** Vault references of an account's second factor. They are to be deleted together with it. */
export const secretsOfMfa = ({ mfa, pendingTotpSecretRef }: AccountState): string[] =>
  [mfa?.totpSecretRef, mfa?.backupCodesRef, pendingTotpSecretRef].filter((reference) => reference !== undefined);

interface SecretLocation {
  readonly owner: string;
  readonly field: string;
}

/** Locations of an account's secrets in the vault. */
export interface AccountSecretLocations {
  password(adminId: string): SecretLocation;
  totpSecret(adminId: string): SecretLocation;
  backupCodes(adminId: string): SecretLocation;
}
export const secretLocationsOf = (noun: 'admin' | 'org-admin'): AccountSecretLocations => ({
  password: (adminId) => ({ owner: `${noun}/${adminId}`, field: 'passwordHash' }),
  totpSecret: (adminId) => ({ owner: `${noun}/${adminId}`, field: 'totpSecret' }),
  backupCodes: (adminId) => ({ owner: `${noun}/${adminId}`, field: 'backupCodes' }),
});
