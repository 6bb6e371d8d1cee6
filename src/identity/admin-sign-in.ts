import type { TrySource } from '../domain/logins/limits.ts';
import type { Tried } from '../domain/logins/login.ts';
import { isPasswordExpired, passwordPlace } from '../domain/tenants/admin.ts';
import { adminByAccount, tenant, tenantStream, type AdminState } from '../domain/tenants/tenant.ts';
import type { Actor } from '../kernel/actor.ts';
import { FailureError, forbidden, unauthenticated } from '../kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { forgiveTries, giveBackTry, openSession, provePassword, type KnownAccount, type Tokens } from './sign-in.ts';
import type { Visitor } from './visitor.ts';

export interface AdminAtTheDoor {
  readonly tenantId: TenantId;
  readonly admin: AdminState;
  readonly actor: Actor;
  readonly source: TrySource;
}

/** What follows a factor that was right (choice OP-022: the second factor first, then the forced change). */
export type NextStep =
  | { readonly step: 'mfa'; readonly token: string }
  | { readonly step: 'change-password'; readonly token: string }
  | { readonly step: 'done'; readonly tokens: Tokens };

/** Choice OP-024. */
const MFA_TOKEN = { seconds: 5 * 60, tries: 5 };
const TEMP_TOKEN_SECONDS = 15 * 60;

export const accountOf = ({ tenantId, admin, actor, source }: AdminAtTheDoor): KnownAccount => ({ tenantId, accountDigest: admin.accountDigest, subjectId: admin.adminId, actor, source });

/** Signs in with e-mail and password, as far as these go. Unknown e-mail, unknown tenant and wrong password answer and cost the same. */
export async function signInWithPassword(services: Services, tenantId: TenantId, email: string, password: string, { actor, sourceOf }: Visitor): Promise<{ admin: AdminState; next: NextStep }> {
  const accountDigest = services.accountDigest(email);
  const state = await services.loader.load(tenant, tenantStream(tenantId));
  const admin = adminByAccount(state, accountDigest);
  const source = sourceOf({ scope: tenantId, accountDigest });
  // Tenants that there are not get neither keys nor streams: strangers' tries there are counted under the installation.
  const account = { tenantId: state.exists ? tenantId : INSTALLATION, accountDigest, subjectId: admin?.adminId ?? null, actor, source };
  const tried = await provePassword(services, account, passwordHashOf(services, account.tenantId, admin), password);
  const atTheDoor = { tenantId, admin: admin!, actor, source };
  if (admin!.status === 'suspended') {
    await giveBackTry(services, accountOf(atTheDoor), tried, 'not_admitted');
    throw new FailureError(forbidden('account suspended'));
  }
  if (isPasswordExpired(admin!, Date.now())) {
    await giveBackTry(services, accountOf(atTheDoor), tried, 'not_admitted');
    throw new FailureError(forbidden('temporary password expired'));
  }
  if (!admin!.mfa) return { admin: admin!, next: await admit(services, atTheDoor, tried, 'password') };
  await giveBackTry(services, accountOf(atTheDoor), tried, 'second_factor_follows');
  const token = { tenantId, subjectId: admin!.adminId, payload: { epoch: admin!.sessionEpoch } };
  return { admin: admin!, next: { step: 'mfa', token: await services.oneTimeTokens.issue('mfa', token, MFA_TOKEN.seconds, MFA_TOKEN.tries) } };
}

/** Everything that was asked for was right: tries are forgiven, and a session or a forced change of password follows. */
export async function admit(services: Services, atTheDoor: AdminAtTheDoor, tried: Tried, method: 'password' | 'password+totp' | 'password+backup_code'): Promise<NextStep> {
  const { tenantId, admin, actor } = atTheDoor;
  const { adminId: subjectId, sessionEpoch: epoch, role } = admin;
  const next = admin.mustChangePassword
    ? services.oneTimeTokens.issue('temp', { tenantId, subjectId, payload: { epoch } }, TEMP_TOKEN_SECONDS).then((token) => ({ step: 'change-password', token }) as const)
    : openSession(services, { tenantId, subjectId, subjectKind: 'admin', epoch, role, method, actor }).then((tokens) => ({ step: 'done', tokens }) as const);
  // Side by side: both appends share a flush, and a failure of either hands nothing out.
  const [step] = await Promise.all([next, forgiveTries(services, accountOf(atTheDoor), tried)]);
  return step;
}

/** The password of an admin who is signed in already. Tries count by session: nobody outside it can use them up. */
export async function confirmAdminPassword(services: Services, { tenantId, adminId, sessionId }: LiveSession, password: string, actor: Actor): Promise<void> {
  const admin = (await services.loader.load(tenant, tenantStream(tenantId))).admins.get(adminId);
  if (!admin) throw new FailureError(unauthenticated());
  const account = accountOf({ tenantId, admin, actor, source: `session:${sessionId}` });
  const tried = await provePassword(services, account, passwordHashOf(services, tenantId, admin), password);
  await giveBackTry(services, account, tried, 're_authentication');
}

interface LiveSession {
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
}

/** Nobody's password is looked for as well: there is no secret of that reference. */
const passwordHashOf = ({ vault }: Services, tenantId: TenantId, admin: AdminState | undefined) => () =>
  vault.get(tenantId, passwordPlace(admin?.adminId ?? 'nobody'), admin?.passwordRef ?? INSTALLATION);
