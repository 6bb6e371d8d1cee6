import { acceptTotpCode } from '../../../commands/identity/accept-totp-code.ts';
import { attemptLogin } from '../../../commands/identity/attempt-login.ts';
import type { MfaState } from './domain/account.ts';
import type { CountedAttempt } from './domain/login.ts';
import { FailureError, orThrow, unauthenticated } from '../../platform/kernel/failure.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AccountKind, SignInAccount, AccountKindsDependencies } from './account-kinds.ts';
import { indexOfCode } from './backup-codes.ts';
import type { HashingReservation } from './hashing-limiter.ts';
import { executionContextOf, sessionIdOf } from './sign-in.ts';
import {
  signInAccountOf,
  completeSignIn,
  type SignInSubject,
  type SignInStep,
  type SignInStepsDependencies,
} from './sign-in-steps.ts';
import { stepOfCode } from './totp.ts';
import type { SignInOrigin } from './sign-in-origin.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import type { Passwords } from './passwords.ts';
import type { OneTimeTokens } from './one-time-tokens.ts';

export interface SecondFactorDependencies extends AccountKindsDependencies, SignInStepsDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly freshness: Freshness;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly oneTimeTokens: OneTimeTokens;
  head(): Promise<Position>;
}

export type PresentedCode = { readonly code: string } | { readonly backupCode: string };

const invalidCode = () => new FailureError(unauthenticated('invalid_code'));
const invalidToken = () => new FailureError(unauthenticated('invalid_token'));

/**
 * The second step of a sign-in. An attempt is taken from the token and from the account before the code is checked. The
 * code is used up by one append before any tokens are issued. Throws 401, and 403 for a locked account.
 *
 * A request that got 503 can be repeated with the same token and code, however far it came (decision 0208).
 */
export async function verifySecondFactor<A extends SignInAccount>(
  services: SecondFactorDependencies,
  kind: AccountKind<A>,
  mfaToken: string,
  presented: PresentedCode,
  isFor: (tenantId: TenantId) => void,
  origin: SignInOrigin,
): Promise<{ readonly tenantId: TenantId; readonly admin: A; readonly next: SignInStep }> {
  const known = await services.oneTimeTokens.peek(kind.purposes.mfa, mfaToken);
  if (!known) throw invalidToken();
  const { tenantId, subjectId, payload } = known;
  isFor(tenantId);
  // Reserved before any attempt is taken: under overload, a refused request costs no attempt.
  const reservation =
    'backupCode' in presented ? services.passwords.reserve({ tenantId, address: origin.actor.ip ?? '' }) : undefined;
  try {
    return await passWith(services, kind, { mfaToken, tenantId, subjectId, payload }, presented, origin, reservation);
  } finally {
    reservation?.giveBack();
  }
}

interface Challenge {
  readonly mfaToken: string;
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function passWith<A extends SignInAccount>(
  services: SecondFactorDependencies,
  kind: AccountKind<A>,
  { mfaToken, tenantId, subjectId, payload }: Challenge,
  presented: PresentedCode,
  { actor, sourceOf, giveBackIfRepeatable }: SignInOrigin,
  reservation: HashingReservation | undefined,
) {
  const { oneTimeTokens } = services;
  const use = await oneTimeTokens.spend(kind.purposes.mfa, mfaToken);
  if (!use) throw invalidToken();
  giveBackIfRepeatable(() => oneTimeTokens.giveBack(kind.purposes.mfa, mfaToken, use));
  const admin = await kind.find(services, tenantId, subjectId);
  // A reset, a suspension or a recovery since then has invalidated the token.
  if (admin?.status !== 'active' || admin.sessionEpoch !== payload['epoch'] || !admin.mfa) throw invalidToken();
  // Passwords may have been disabled since the first step.
  if (await kind.whyNoPasswords(services, tenantId)) throw invalidToken();
  const source = sourceOf({ scope: kind.scopeOf(tenantId), accountDigest: admin.accountDigest });
  const subject: SignInSubject = { kind, tenantId, admin, actor, source };
  const method = 'code' in presented ? 'password+totp' : 'password+backup_code';
  const sessionId = sessionIdOf(`${mfaToken} ${method}`);
  const attempt = await useUpCode(services, subject, admin.mfa, sessionId, presented, reservation);
  // Of two right codes with one token, only one signs in.
  if (!(await oneTimeTokens.finish(kind.purposes.mfa, mfaToken, use))) throw invalidToken();
  return { tenantId, admin, next: await completeSignIn(services, subject, attempt, method, sessionId) };
}

async function useUpCode(
  services: SecondFactorDependencies,
  subject: SignInSubject,
  mfa: MfaState,
  sessionId: string,
  presented: PresentedCode,
  reservation: HashingReservation | undefined,
): Promise<CountedAttempt> {
  const {
    kind,
    tenantId,
    admin: { adminId },
  } = subject;
  const account = signInAccountOf(subject);
  const context = executionContextOf(account);
  const { accountDigest, subjectId, source } = account;
  const { result } = orThrow(
    await services.executor.execute(attemptLogin, { accountDigest, subjectId, factor: 'code', source }, context),
  );
  if ('code' in presented) {
    const secret = await services.vault.get(tenantId, kind.places.totpSecret(adminId), mfa.totpSecretRef);
    const step = secret && (await stepOfCode(secret.toString(), presented.code, Date.now()));
    if (step === undefined || step <= mfa.enabledStep) throw invalidCode();
    orThrow(
      await services.executor.execute(
        acceptTotpCode,
        { subjectKind: kind.subjectKind, adminId, totpSecretRef: mfa.totpSecretRef, step, sessionId },
        context,
      ),
    );
  } else {
    const kept = await services.vault.get(tenantId, kind.places.backupCodes(adminId), mfa.backupCodesRef);
    const place = kept && (await indexOfCode(kept.toString(), presented.backupCode, services.passwords, reservation));
    if (place === undefined) throw invalidCode();
    const { position } = orThrow(
      await kind.useBackupCode(services, { adminId, backupCodesRef: mfa.backupCodesRef, place, sessionId }, context),
    );
    // The next status request must show the remaining codes. A repeated sign-in has used its code before.
    await services.freshness.waitFor(kind.shownIn, position ?? (await services.head()));
  }
  return result.attempt;
}
