/**
 * What signing in needs to know of an administrator's account, whether it belongs to a tenant or to an organization. Both streams have events
 * of their own; what these mean to an account is said here once.
 */
export interface AccountState {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly status: 'active' | 'suspended';
  readonly passwordRef: string;
  readonly mustChangePassword: boolean;
  /** Epoch milliseconds after which a temporary password lets in nobody; undefined for one that its owner chose. */
  readonly passwordExpiresAt: number | undefined;
  /** Sessions that began under an earlier number are over. */
  readonly sessionEpoch: number;
  /** The one session that outlived the latest revocation, because its holder revoked the others from there. */
  readonly keptSessionId: string | undefined;
  readonly mfa: MfaState | undefined;
  /** A secret that was handed out and waits for its first code. */
  readonly pendingTotpSecretRef: string | undefined;
}

/** A second factor that is on. The secret and the digests of the backup codes are references into the vault. */
export interface MfaState {
  readonly totpSecretRef: string;
  readonly backupCodesRef: string;
  /** The time step (RFC 6238) whose code turned it on: that code and older ones were used. */
  readonly enabledStep: number;
  /** Which of the backup codes are used up, by their place. */
  readonly usedBackupCodes: ReadonlySet<number>;
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

/** Every session is over, but for the one that is kept. */
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
  mfa: { totpSecretRef, backupCodesRef, enabledStep: step, usedBackupCodes: new Set() },
});

export const withoutMfa = <A extends AccountState>(account: A): A => ({
  ...account,
  mfa: undefined,
  pendingTotpSecretRef: undefined,
});

export const withBackupCodeUsed = <A extends AccountState>(account: A, place: number): A =>
  account.mfa
    ? { ...account, mfa: { ...account.mfa, usedBackupCodes: new Set(account.mfa.usedBackupCodes).add(place) } }
    : account;

/** Whether the right password is one that is right no more. */
export const isPasswordExpired = ({ passwordExpiresAt }: AccountState, now: number): boolean =>
  passwordExpiresAt !== undefined && passwordExpiresAt <= now;

/** Whether a session that began under `epoch` still lets its holder in. */
export const admitsSession = (
  { status, sessionEpoch, keptSessionId }: AccountState,
  sessionId: string,
  epoch: number,
): boolean => status === 'active' && (epoch === sessionEpoch || sessionId === keptSessionId);

/** Vault references of an account that nothing needs once they are gone. */
export const secretsOfMfa = ({ mfa, pendingTotpSecretRef }: AccountState): string[] =>
  [mfa?.totpSecretRef, mfa?.backupCodesRef, pendingTotpSecretRef].filter((reference) => reference !== undefined);

interface SecretLocation {
  readonly owner: string;
  readonly field: string;
}

/** Where the vault keeps what is an account's. */
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
