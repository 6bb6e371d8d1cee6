import { createHash, randomUUID } from 'node:crypto';
import { attemptLogin } from '../../../commands/identity/attempt-login.ts';
import { confirmPassword } from '../../../commands/identity/confirm-password.ts';
import { recordLoginSuccess } from '../../../commands/identity/record-login-success.ts';
import { startSession } from '../../../commands/identity/start-session.ts';
import type { PasswordConfirmed } from './domain/login-events.ts';
import type { AttemptSource } from './domain/login-limits.ts';
import type { CountedAttempt } from './domain/login.ts';
import type { SessionEvent } from './domain/session-events.ts';
import type { VouchedBy } from '../sso/domain/vouching.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { FailureError, forbidden, isFailure, orThrow, unauthenticated } from '../../platform/kernel/failure.ts';
import { uuidOf, type TenantId } from '../../platform/kernel/ids.ts';
import type { HashingReservation, HashingSource } from './hashing-limiter.ts';
import { ADMIN_LIFETIME, ORG_LIFETIME, type RefreshTokens } from './refresh-tokens.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Passwords } from './passwords.ts';
import type { AccessTokens } from './access-tokens.ts';

export interface SignInDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
}

export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: string;
}

export interface NewSession {
  readonly tenantId: TenantId;
  /** If the caller has to know it before the session begins: a fresh UUID, or that of a one-time token (`sessionIdOf`). */
  readonly sessionId?: string;
  readonly subjectId: string;
  readonly subjectKind: 'admin' | 'org_admin';
  readonly epoch: number;
  readonly role: string;
  readonly method: Extract<SessionEvent, { type: 'SessionStarted' }>['data']['method'];
  /** Only for single sign-on. */
  readonly vouchedBy?: VouchedBy;
  /** Epoch milliseconds at which the provider's session ends, if it says so. */
  readonly until?: number | undefined;
  readonly actor: Actor;
}

/**
 * The session that a one-time token begins. A request that has begun it, but could not say so because something was away, is
 * repeated: it finds the same session, and none is left that nobody holds.
 */
export const sessionIdOf = (token: string): string =>
  uuidOf(createHash('sha256').update(`session of ${token}`).digest());

/** Starts a session and issues its first tokens. */
export async function openSession(services: SignInDependencies, wanted: NewSession): Promise<SessionTokens> {
  const {
    tenantId,
    subjectId,
    subjectKind,
    epoch,
    method,
    role,
    vouchedBy = null,
    sessionId = randomUUID(),
    until,
  } = wanted;
  const actor: Actor = { ...wanted.actor, kind: subjectKind, id: subjectId };
  const lifetime = subjectKind === 'admin' ? ADMIN_LIFETIME : ORG_LIFETIME;
  // Concurrently: if the session does not start, its tokens are not valid.
  const [started, refreshToken, { token, expiresAt }] = await Promise.all([
    services.executor.execute(
      startSession,
      { sessionId, subjectId, subjectKind, epoch, method, vouchedBy },
      { tenantId, actor },
    ),
    services.refreshTokens.issue({ tenantId, sessionId, subjectId }, lifetime, until),
    services.accessTokens.issue(
      subjectKind === 'admin' ? 'access' : 'org',
      tenantId,
      subjectId,
      sessionId,
      role,
      until,
    ),
  ]);
  orThrow(started);
  return { accessToken: token, refreshToken, expiresAt };
}

/** The account of a sign-in attempt. `subjectId` is null for an unknown account. */
export interface AttemptedAccount {
  readonly tenantId: TenantId;
  readonly accountDigest: string;
  readonly subjectId: string | null;
  readonly actor: Actor;
  /** The source by which attempts are counted. */
  readonly source: AttemptSource;
}

export interface KnownAccount extends AttemptedAccount {
  readonly subjectId: string;
}

/** The queue that the computation waits in. Accounts of tenants that do not exist share the installation's. */
const sourceOf = ({ tenantId, actor }: AttemptedAccount): HashingSource => ({ tenantId, address: actor.ip ?? '' });

/** After a right password, the account's owner is the actor. */
const proven = ({ actor, subjectId }: KnownAccount): Actor => ({
  ...actor,
  kind: actor.kind === 'system' ? 'admin' : actor.kind,
  id: subjectId,
});
export const executionContextOf = (account: KnownAccount) => ({ tenantId: account.tenantId, actor: proven(account) });

/**
 * Checks an account's password; takes one of its attempts first. `findHash` returns undefined for an unknown account,
 * which costs the same.
 *
 * Returns the counted attempt. Throws 401 for an unknown account or a wrong password, 403 for the right password of a
 * locked account, and `TooManyWaiting` or `TooBusy` before an attempt is taken.
 *
 * The attempt still counts afterwards: the caller decides whether to refund or forgive it.
 */
export function verifyAccountPassword(
  services: SignInDependencies,
  account: AttemptedAccount,
  findHash: () => Promise<Buffer | undefined>,
  password: string,
): Promise<CountedAttempt> {
  return services.passwords.inTurn(account.accountDigest, account.source, () =>
    attemptPassword(services, account, findHash, password),
  );
}

async function attemptPassword(
  services: SignInDependencies,
  account: AttemptedAccount,
  findHash: () => Promise<Buffer | undefined>,
  password: string,
): Promise<CountedAttempt> {
  // Reserved before the attempt is counted: a request that is refused under overload does not contribute to a lock.
  const reservation = services.passwords.reserve(sourceOf(account));
  try {
    return await proveWith(services, account, findHash, password, reservation);
  } finally {
    reservation.giveBack();
  }
}

async function proveWith(
  { executor, passwords }: SignInDependencies,
  account: AttemptedAccount,
  findHash: () => Promise<Buffer | undefined>,
  password: string,
  reservation: HashingReservation,
): Promise<CountedAttempt> {
  const { tenantId, accountDigest, subjectId, actor, source } = account;
  const attempt = executor.execute(
    attemptLogin,
    { accountDigest, subjectId, factor: 'password', source },
    { tenantId, actor },
  );
  const [attempted, hash] = await Promise.all([attempt, findHash()]);
  // Same cost, so that timing does not reveal that attempts are exhausted, or whether the account exists.
  if (isFailure(attempted) && attempted.kind === 'unauthenticated')
    await passwords.verifyDummyPassword(password, reservation);
  const { result } = orThrow(attempted);
  const right = await (hash
    ? passwords.verify(hash.toString(), password, reservation)
    : passwords.verifyDummyPassword(password, reservation));
  if (!right || subjectId === null) throw new FailureError(unauthenticated('invalid_credentials'));
  if (result.locked) throw new FailureError(forbidden('account_locked'));
  return result.attempt;
}

/** The password was right but does not sign in: refunds its own attempt; earlier wrong ones still count. */
export async function refundAttempt(
  services: SignInDependencies,
  account: KnownAccount,
  attempt: CountedAttempt,
  purpose: PasswordConfirmed['purpose'],
): Promise<void> {
  const { accountDigest, subjectId } = account;
  orThrow(
    await services.executor.execute(
      confirmPassword,
      { accountDigest, subjectId, attempt, purpose },
      executionContextOf(account),
    ),
  );
}

/** All required factors were right. */
export async function forgiveAttempts(
  services: SignInDependencies,
  account: KnownAccount,
  tried: CountedAttempt,
): Promise<void> {
  const { accountDigest, subjectId } = account;
  orThrow(
    await services.executor.execute(
      recordLoginSuccess,
      { accountDigest, subjectId, attempt: tried },
      executionContextOf(account),
    ),
  );
}
