import { randomUUID } from 'node:crypto';
import { attemptLogin } from '../../commands/auth/attempt-login.ts';
import { recordLoginSuccess } from '../../commands/auth/record-login-success.ts';
import { startSession } from '../../commands/auth/start-session.ts';
import { adminByAccount, tenant, tenantStream, type AdminState } from '../domain/tenants/tenant.ts';
import type { SessionEvent } from '../domain/sessions/events.ts';
import type { Actor } from '../kernel/actor.ts';
import { FailureError, forbidden, orThrow, unauthenticated, unavailable } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { PasswordsBusy } from './passwords.ts';
import { ADMIN_LIFETIME, ORG_LIFETIME } from './refresh-tokens.ts';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: string;
}

export interface NewSession {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly subjectKind: 'admin' | 'org_admin';
  readonly epoch: number;
  readonly role: string;
  readonly method: Extract<SessionEvent, { type: 'SessionStarted' }>['data']['method'];
  readonly actor: Actor;
}

/** Starts a session and hands out its first tokens. */
export async function openSession(services: Services, wanted: NewSession): Promise<Tokens> {
  const { tenantId, subjectId, subjectKind, epoch, method, role } = wanted;
  const sessionId = randomUUID();
  const actor: Actor = { ...wanted.actor, kind: subjectKind, id: subjectId };
  orThrow(await services.executor.execute(startSession, { sessionId, subjectId, subjectKind, epoch, method }, { tenantId, actor }));
  const lifetime = subjectKind === 'admin' ? ADMIN_LIFETIME : ORG_LIFETIME;
  const [refreshToken, { token, expiresAt }] = await Promise.all([
    services.refreshTokens.issue(tenantId, sessionId, subjectId, lifetime),
    services.accessTokens.issue(subjectKind === 'admin' ? 'access' : 'org', tenantId, subjectId, sessionId, role),
  ]);
  return { accessToken: token, refreshToken, expiresAt };
}

const INVALID = unauthenticated('invalid credentials');

/**
 * Checks an account's password, taking one of its tries first. `findHash` answers undefined for nobody, which costs the
 * same. Throws 401 for unknown and wrong alike, 403 for the right password on a locked account.
 */
export async function checkPassword(
  services: Services,
  { tenantId, accountDigest, subjectId, actor }: { tenantId: TenantId; accountDigest: string; subjectId: string | null; actor: Actor },
  findHash: () => Promise<Buffer | undefined>,
  password: string,
): Promise<void> {
  const { result } = orThrow(await services.executor.execute(attemptLogin, { accountDigest, subjectId }, { tenantId, actor }));
  const hash = await findHash();
  const right = await inTurn(() => (hash ? services.passwords.verify(hash.toString(), password) : services.passwords.verifyNobody(password)));
  if (!right || subjectId === null) throw new FailureError(INVALID);
  if (result.locked) throw new FailureError(forbidden('account locked'));
  orThrow(await services.executor.execute(recordLoginSuccess, { accountDigest, subjectId }, { tenantId, actor: { ...actor, kind: actor.kind === 'system' ? 'admin' : actor.kind, id: subjectId } }));
}

/** The admin whom e-mail and password name. */
export async function checkAdminPassword(services: Services, tenantId: TenantId, email: string, password: string, actor: Actor): Promise<AdminState> {
  const accountDigest = services.accountDigest(email);
  const state = await services.loader.load(tenant, tenantStream(tenantId));
  const admin = adminByAccount(state, accountDigest);
  await checkPassword(
    services,
    { tenantId, accountDigest, subjectId: admin?.adminId ?? null, actor },
    async () => admin && services.vault.get(tenantId, { owner: `admin/${admin.adminId}`, field: 'passwordHash' }, admin.passwordRef),
    password,
  );
  if (admin!.status === 'suspended') throw new FailureError(forbidden('account suspended'));
  return admin!;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PasswordsBusy) throw new FailureError(unavailable());
    throw error;
  }
}
