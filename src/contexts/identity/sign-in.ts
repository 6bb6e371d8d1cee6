import { randomUUID } from 'node:crypto';
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
import type { TenantId } from '../../platform/kernel/ids.ts';
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
  /** A fresh UUID where the caller has to know it before the session begins. */
  readonly sessionId?: string;
  readonly subjectId: string;
  readonly subjectKind: 'admin' | 'org_admin';
  readonly epoch: number;
  readonly role: string;
  readonly method: Extract<SessionEvent, { type: 'SessionStarted' }>['data']['method'];
  /** Of a single sign-on. */
  readonly vouchedBy?: VouchedBy;
  readonly actor: Actor;
}

/** Starts a session and hands out its first tokens. */
export async function openSession(services: SignInDependencies, wanted: NewSession): Promise<SessionTokens> {
  const { tenantId, subjectId, subjectKind, epoch, method, role, vouchedBy = null, sessionId = randomUUID() } = wanted;
  const actor: Actor = { ...wanted.actor, kind: subjectKind, id: subjectId };
  const lifetime = subjectKind === 'admin' ? ADMIN_LIFETIME : ORG_LIFETIME;
  // Side by side: tokens of a session that did not come to be let nobody in.
  const [started, refreshToken, { token, expiresAt }] = await Promise.all([
    services.executor.execute(
      startSession,
      { sessionId, subjectId, subjectKind, epoch, method, vouchedBy },
      { tenantId, actor },
    ),
    services.refreshTokens.issue(tenantId, sessionId, subjectId, lifetime),
    services.accessTokens.issue(subjectKind === 'admin' ? 'access' : 'org', tenantId, subjectId, sessionId, role),
  ]);
  orThrow(started);
  return { accessToken: token, refreshToken, expiresAt };
}

/** At whose door somebody stands. `subjectId` is null for nobody. */
export interface AttemptedAccount {
  readonly tenantId: TenantId;
  readonly accountDigest: string;
  readonly subjectId: string | null;
  readonly actor: Actor;
  /** What their tries are counted by. */
  readonly source: AttemptSource;
}

export interface KnownAccount extends AttemptedAccount {
  readonly subjectId: string;
}

/** Whose turns its computations take. Accounts of tenants that do not exist share those of the installation. */
const sourceOf = ({ tenantId, actor }: AttemptedAccount): HashingSource => ({ tenantId, address: actor.ip ?? '' });

/** The actor of what follows a right password: the one who knew it. */
const proven = ({ actor, subjectId }: KnownAccount): Actor => ({
  ...actor,
  kind: actor.kind === 'system' ? 'admin' : actor.kind,
  id: subjectId,
});
export const executionContextOf = (account: KnownAccount) => ({ tenantId: account.tenantId, actor: proven(account) });

/**
 * Checks an account's password, taking one of its tries first. `findHash` answers undefined for nobody, which costs the
 * same. Answers the try that was taken; throws 401 for unknown and wrong alike, 403 for the right password on a locked
 * account, `TooManyWaiting` before a try is taken. The try still counts: what the right password is worth is for the caller to say.
 */
export async function verifyAccountPassword(
  services: SignInDependencies,
  account: AttemptedAccount,
  findHash: () => Promise<Buffer | undefined>,
  password: string,
): Promise<CountedAttempt> {
  // In a storm the place comes first: who is sent away has not had their password looked at, and is not locked for coming again.
  const place = services.passwords.reserve(sourceOf(account));
  try {
    return await proveWith(services, account, findHash, password, place);
  } finally {
    place.giveBack();
  }
}

async function proveWith(
  { executor, passwords }: SignInDependencies,
  account: AttemptedAccount,
  findHash: () => Promise<Buffer | undefined>,
  password: string,
  place: HashingReservation,
): Promise<CountedAttempt> {
  const { tenantId, accountDigest, subjectId, actor, source } = account;
  const attempt = executor.execute(
    attemptLogin,
    { accountDigest, subjectId, factor: 'password', source },
    { tenantId, actor },
  );
  const [attempted, hash] = await Promise.all([attempt, findHash()]);
  // Costs the same: whose tries are used up, and under which name they were counted, is nobody's business.
  if (isFailure(attempted) && attempted.kind === 'unauthenticated')
    await passwords.verifyDummyPassword(password, place);
  const { result } = orThrow(attempted);
  const right = await (hash
    ? passwords.verify(hash.toString(), password, place)
    : passwords.verifyDummyPassword(password, place));
  if (!right || subjectId === null) throw new FailureError(unauthenticated('invalid credentials'));
  if (result.locked) throw new FailureError(forbidden('account locked'));
  return result.attempt;
}

/** The password was right, and is not the way in: its own try does not count, earlier wrong ones still do. */
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

/** Whoever stands at the door has shown everything that was asked for. */
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
