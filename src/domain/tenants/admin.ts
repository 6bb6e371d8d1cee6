import type { Role } from '../identity/roles.ts';
import type { TenantEvent } from './events.ts';

/** A second factor that is on. The secret and the digests of the backup codes are references into the vault. */
export interface MfaState {
  readonly totpSecretRef: string;
  readonly backupCodesRef: string;
  /** The time step (RFC 6238) whose code turned it on: that code and older ones were used. */
  readonly enabledStep: number;
  /** Which of the backup codes are used up, by their place. */
  readonly usedBackupCodes: ReadonlySet<number>;
}

/** What decisions about an admin need. Name and e-mail are not among it: uniqueness is a claim. */
export interface AdminState {
  readonly adminId: string;
  readonly accountDigest: string;
  readonly role: Role;
  readonly status: 'active' | 'suspended';
  readonly passwordRef: string;
  readonly mustChangePassword: boolean;
  /** Epoch milliseconds after which a temporary password lets in nobody; undefined for one that its owner chose. */
  readonly passwordExpiresAt: number | undefined;
  readonly mobileAccess: boolean;
  /** Sessions that began under an earlier number are over. */
  readonly sessionEpoch: number;
  /** The one session that outlived the latest revocation, because the admin revoked the others from there. */
  readonly keptSessionId: string | undefined;
  readonly mfa: MfaState | undefined;
  /** A secret that was handed out and waits for its first code. */
  readonly pendingTotpSecretRef: string | undefined;
}

type AdminCreated = Extract<TenantEvent, { type: 'AdminUserCreated' }>['data'];

export const newAdmin = ({ adminId, accountDigest, roleType, passwordRef, mustChangePassword, passwordExpiresAt }: AdminCreated): AdminState => ({
  adminId,
  accountDigest,
  role: roleType,
  status: 'active',
  passwordRef,
  mustChangePassword,
  passwordExpiresAt: instantOf(passwordExpiresAt),
  mobileAccess: true,
  sessionEpoch: 0,
  keptSessionId: undefined,
  mfa: undefined,
  pendingTotpSecretRef: undefined,
});

const instantOf = (written: string | null): number | undefined => (written === null ? undefined : Date.parse(written));

/** Whether the right password is one that is right no more. */
export const isPasswordExpired = ({ passwordExpiresAt }: AdminState, now: number): boolean => passwordExpiresAt !== undefined && passwordExpiresAt <= now;

const withoutSessions = (admin: AdminState, keptSessionId?: string): AdminState => ({ ...admin, sessionEpoch: admin.sessionEpoch + 1, keptSessionId });

/** What an event of the tenant's stream means to the admin whom it names. */
export function foldAdmin(admin: AdminState, event: TenantEvent): AdminState {
  switch (event.type) {
    case 'AdminUserUpdated':
      return { ...admin, accountDigest: event.data.accountDigest ?? admin.accountDigest };
    case 'AdminRoleChanged':
      return { ...admin, role: event.data.roleType };
    case 'AdminSuspended':
      return { ...withoutSessions(admin), status: 'suspended' };
    case 'AdminReinstated':
      return { ...admin, status: 'active' };
    case 'AdminPasswordChanged':
      return {
        ...admin,
        passwordRef: event.data.passwordRef,
        mustChangePassword: event.data.mustChangePassword,
        passwordExpiresAt: instantOf(event.data.passwordExpiresAt),
      };
    case 'AdminMobileAccessSet':
      return { ...admin, mobileAccess: event.data.mobileAccess };
    case 'AdminSessionsRevoked':
      return withoutSessions(admin);
    case 'AdminOtherSessionsRevoked':
      return withoutSessions(admin, event.data.keptSessionId);
    case 'AdminMfaSetupStarted':
      return { ...admin, pendingTotpSecretRef: event.data.totpSecretRef };
    case 'AdminMfaEnabled': {
      const { totpSecretRef, backupCodesRef, step } = event.data;
      return { ...admin, pendingTotpSecretRef: undefined, mfa: { totpSecretRef, backupCodesRef, enabledStep: step, usedBackupCodes: new Set() } };
    }
    case 'AdminBackupCodeUsed':
      return admin.mfa ? { ...admin, mfa: { ...admin.mfa, usedBackupCodes: new Set(admin.mfa.usedBackupCodes).add(event.data.place) } } : admin;
    case 'AdminMfaDisabled':
      return { ...admin, mfa: undefined, pendingTotpSecretRef: undefined };
    default:
      return admin;
  }
}

/** Whether a session that began under `epoch` still lets this admin in. */
export const admitsSession = ({ status, sessionEpoch, keptSessionId }: AdminState, sessionId: string, epoch: number): boolean =>
  status === 'active' && (epoch === sessionEpoch || sessionId === keptSessionId);

/** Vault references of an admin that nothing needs once they are gone. */
export const secretsOfMfa = ({ mfa, pendingTotpSecretRef }: AdminState): string[] =>
  [mfa?.totpSecretRef, mfa?.backupCodesRef, pendingTotpSecretRef].filter((reference) => reference !== undefined);

/** Where the vault keeps what is an admin's. */
export const passwordPlace = (adminId: string) => ({ owner: `admin/${adminId}`, field: 'passwordHash' });
export const totpSecretPlace = (adminId: string) => ({ owner: `admin/${adminId}`, field: 'totpSecret' });
export const backupCodesPlace = (adminId: string) => ({ owner: `admin/${adminId}`, field: 'backupCodes' });
