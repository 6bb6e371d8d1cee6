import { adminPasswordLocation } from '../tenants/domain/admin.ts';
import { adminByAccount, tenant, tenantStream, type AdminState } from '../tenants/domain/tenant.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { FailureError, unauthenticated } from '../../platform/kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { tenantAdminAccounts, type AccountKindsDependencies } from './account-kinds.ts';
import { refundAttempt, verifyAccountPassword, type SignInDependencies } from './sign-in.ts';
import { signInAccountOf, acceptPassword, type SignInStep, type SignInStepsDependencies } from './sign-in-steps.ts';
import type { SignInOrigin } from './sign-in-origin.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Vault } from '../../platform/vault/vault.ts';

export interface AdminSignInDependencies extends AccountKindsDependencies, SignInDependencies, SignInStepsDependencies {
  readonly loader: AggregateLoader;
  readonly vault: Vault;
  accountDigest(email: string): string;
}

/**
 * Signs in with e-mail and password, up to the next required step. Unknown e-mail, unknown tenant and wrong password
 * get the same response at the same cost.
 */
export async function signInWithPassword(
  services: AdminSignInDependencies,
  tenantId: TenantId,
  email: string,
  password: string,
  { actor, sourceOf }: SignInOrigin,
): Promise<{ admin: AdminState; next: SignInStep }> {
  const accountDigest = services.accountDigest(email);
  const state = await services.loader.load(tenant, tenantStream(tenantId));
  const admin = adminByAccount(state, accountDigest);
  const source = sourceOf({ scope: tenantId, accountDigest });
  // Tenants that do not exist get neither keys nor streams: attempts there are counted under the installation.
  const account = {
    tenantId: state.exists ? tenantId : INSTALLATION,
    accountDigest,
    subjectId: admin?.adminId ?? null,
    actor,
    source,
  };
  const attempt = await verifyAccountPassword(
    services,
    account,
    passwordHashOf(services, account.tenantId, admin),
    password,
  );
  return {
    admin: admin!,
    next: await acceptPassword(
      services,
      { kind: tenantAdminAccounts, tenantId, admin: admin!, actor, source },
      attempt,
    ),
  };
}

/**
 * Verifies the password of an admin who is already signed in, and returns the account. Attempts are counted by session, so nobody outside the
 * session can use them up.
 */
export async function confirmAdminPassword(
  services: AdminSignInDependencies,
  { tenantId, adminId, sessionId }: LiveSession,
  password: string,
  actor: Actor,
): Promise<AdminState> {
  const admin = await tenantAdminAccounts.find(services, tenantId, adminId);
  if (!admin) throw new FailureError(unauthenticated());
  const account = signInAccountOf({
    kind: tenantAdminAccounts,
    tenantId,
    admin,
    actor,
    source: `session:${sessionId}`,
  });
  const tried = await verifyAccountPassword(services, account, passwordHashOf(services, tenantId, admin), password);
  await refundAttempt(services, account, tried, 're_authentication');
  return admin;
}

interface LiveSession {
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
}

/** For an unknown account the vault is queried as well, with a reference that has no secret. */
const passwordHashOf =
  ({ vault }: AdminSignInDependencies, tenantId: TenantId, admin: AdminState | undefined) =>
  () =>
    vault.get(tenantId, adminPasswordLocation(admin?.adminId ?? 'nobody'), admin?.passwordRef ?? INSTALLATION);
