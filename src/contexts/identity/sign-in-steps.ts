import type { CodeOf } from '../../platform/kernel/error-codes.ts';
import { isPasswordExpired } from './domain/account.ts';
import type { AttemptSource } from './domain/login-limits.ts';
import type { CountedAttempt } from './domain/login.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { FailureError, forbidden } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AccountKind, SignInAccount, AccountKindsDependencies } from './account-kinds.ts';
import {
  forgiveAttempts,
  refundAttempt,
  openSession,
  type KnownAccount,
  type SessionTokens,
  type SignInDependencies,
} from './sign-in.ts';
import type { OneTimeTokens } from './one-time-tokens.ts';

export interface SignInStepsDependencies extends AccountKindsDependencies, SignInDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

/** An administrator of a tenant or of an organization during sign-in. */
export interface SignInSubject {
  readonly kind: AccountKind;
  /** The tenant, or the organization. */
  readonly tenantId: TenantId;
  readonly admin: SignInAccount;
  readonly actor: Actor;
  readonly source: AttemptSource;
}

/** The step after a correct factor (OP-022: the second factor first, then the forced change). */
export type SignInStep =
  | { readonly step: 'mfa'; readonly token: string }
  | { readonly step: 'change-password'; readonly token: string }
  | { readonly step: 'done'; readonly tokens: SessionTokens };

/** OP-024. */
const MFA_TOKEN = { seconds: 5 * 60, tries: 5 };
const TEMP_TOKEN_SECONDS = 15 * 60;

export const signInAccountOf = ({ kind, tenantId, admin, actor, source }: SignInSubject): KnownAccount => ({
  tenantId,
  accountDigest: admin.accountDigest,
  subjectId: admin.adminId,
  actor: { ...actor, kind: kind.subjectKind },
  source,
});

/**
 * Continues after a right password. If the account may not sign in, the response says why. Otherwise the second factor
 * follows if one is enabled.
 */
export async function acceptPassword(
  services: SignInStepsDependencies,
  subject: SignInSubject,
  attempt: CountedAttempt,
): Promise<SignInStep> {
  const { kind, tenantId, admin } = subject;
  const refusal = await whyNotAdmitted(services, subject);
  if (refusal) {
    await refundAttempt(services, signInAccountOf(subject), attempt, 'not_admitted');
    throw new FailureError(forbidden(refusal));
  }
  if (!admin.mfa) return completeSignIn(services, subject, attempt, 'password');
  await refundAttempt(services, signInAccountOf(subject), attempt, 'second_factor_follows');
  const token = { tenantId, subjectId: admin.adminId, payload: { epoch: admin.sessionEpoch } };
  return {
    step: 'mfa',
    token: await services.oneTimeTokens.issue(kind.purposes.mfa, token, MFA_TOKEN.seconds, MFA_TOKEN.tries),
  };
}

async function whyNotAdmitted(
  services: SignInStepsDependencies,
  { kind, tenantId, admin }: SignInSubject,
): Promise<CodeOf<'forbidden'> | undefined> {
  if (admin.status === 'suspended') return 'account_suspended';
  return (
    (await kind.whyNoPasswords(services, tenantId)) ??
    (isPasswordExpired(admin, Date.now()) ? 'temporary_password_expired' : undefined)
  );
}

/** All factors were right: attempts are forgiven, and a session or a forced password change follows. */
export async function completeSignIn(
  services: SignInStepsDependencies,
  subject: SignInSubject,
  attempt: CountedAttempt,
  method: 'password' | 'password+totp' | 'password+backup_code',
  sessionId?: string,
): Promise<SignInStep> {
  const { kind, tenantId, admin, actor } = subject;
  const { adminId: subjectId, sessionEpoch: epoch, role } = admin;
  const next = admin.mustChangePassword
    ? services.oneTimeTokens
        .issue(kind.purposes.temp, { tenantId, subjectId, payload: { epoch } }, TEMP_TOKEN_SECONDS)
        .then((token) => ({ step: 'change-password', token }) as const)
    : openSession(services, {
        tenantId,
        ...(sessionId === undefined ? {} : { sessionId }),
        subjectId,
        subjectKind: kind.subjectKind,
        epoch,
        role,
        method,
        actor,
      }).then((tokens) => ({ step: 'done', tokens }) as const);
  // Concurrently: both appends share a flush, and if either fails, no tokens are returned.
  const [step] = await Promise.all([next, forgiveAttempts(services, signInAccountOf(subject), attempt)]);
  return step;
}
