import type { CountedAttempt } from './domain/login.ts';
import {
  orgAdminAccountClaim,
  orgAdminByAccount,
  organization,
  organizationStream,
  orgPasswordLocation,
  type OrganizationState,
  type OrgAdminState,
} from '../organizations/domain/organization.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { streamSubject } from '../../platform/kernel/aggregate.ts';
import { FailureError, forbidden } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { orgAdminAccounts } from './account-kinds.ts';
import { ORGANIZATIONS } from './known-browsers.ts';
import { refundAttempt, verifyAccountPassword, type KnownAccount, type SignInDependencies } from './sign-in.ts';
import { signInAccountOf, acceptPassword, type SignInStep, type SignInStepsDependencies } from './sign-in-steps.ts';
import type { SignInOrigin } from './sign-in-origin.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { WithClaimHolder } from '../../../commands/ports.ts';
import type { Vault } from '../../platform/vault/vault.ts';

export interface OrgSignInDependencies extends SignInDependencies, SignInStepsDependencies {
  readonly loader: AggregateLoader;
  readonly ports: WithClaimHolder;
  readonly vault: Vault;
  accountDigest(email: string): string;
}

export interface FoundOrgAdmin {
  readonly organizationId: TenantId;
  readonly organization: OrganizationState;
  readonly admin: OrgAdminState;
}

/** The account with an e-mail's digest, if any: the claim's holder is the organization's stream. */
export async function findOrgAdmin(
  { ports, loader }: OrgSignInDependencies,
  accountDigest: string,
): Promise<FoundOrgAdmin | undefined> {
  // For an unknown e-mail the same steps run on a stream without events.
  const stream =
    (await ports.claimHolder(INSTALLATION, orgAdminAccountClaim(accountDigest))) ?? organizationStream(INSTALLATION);
  const state = await loader.load(organization, stream);
  const admin = orgAdminByAccount(state, accountDigest);
  return admin && { organizationId: asTenantId(streamSubject(stream)), organization: state, admin };
}

/**
 * Signs in with e-mail and password, up to the next required step.
 *
 * Unknown e-mail, another organization's slug and wrong password get the same response at the same cost. Attempts for
 * unknown accounts are counted under the installation.
 *
 * Only a client with the right password learns that passwords are not accepted, or not from this admin. Otherwise the
 * response would reveal who has an account.
 */
export async function signInToOrganization(
  services: OrgSignInDependencies,
  email: string,
  password: string,
  slug: string | undefined,
  { actor, sourceOf }: SignInOrigin,
): Promise<FoundOrgAdmin & { readonly next: SignInStep }> {
  const accountDigest = services.accountDigest(email);
  const known = await findOrgAdmin(services, accountDigest);
  const found = slug === undefined || known?.organization.slug === slug ? known : undefined;
  const source = sourceOf({ scope: ORGANIZATIONS, accountDigest });
  const attempt = await proveFoundPassword(services, accountDigest, found, password, { actor, source });
  const { organizationId: tenantId, admin } = found!;
  return {
    ...found!,
    next: await acceptPassword(services, { kind: orgAdminAccounts, tenantId, admin, actor, source }, attempt),
  };
}

interface LiveOrgSession {
  readonly organizationId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
}

/**
 * Verifies the password of an admin who is already signed in, and returns the account. Attempts are counted by session,
 * so nobody outside the session can use them up. While single sign-on is required, no password counts.
 */
export async function confirmOrgPassword(
  services: OrgSignInDependencies,
  { organizationId, adminId, sessionId }: LiveOrgSession,
  password: string,
  actor: Actor,
): Promise<OrgAdminState> {
  const state = await services.loader.load(organization, organizationStream(organizationId));
  // This session may have begun before (OP-141). Single sign-on gives proofs, too (decision 0046).
  if (state.requireSso) throw new FailureError(forbidden('sso_required'));
  const admin = state.admins.get(adminId)!;
  const source = `session:${sessionId}` as const;
  const attempt = await proveFoundPassword(
    services,
    admin.accountDigest,
    { organizationId, organization: state, admin },
    password,
    { actor, source },
  );
  await refundAttempt(
    services,
    signInAccountOf({ kind: orgAdminAccounts, tenantId: organizationId, admin, actor, source }),
    attempt,
    're_authentication',
  );
  return admin;
}

function proveFoundPassword(
  services: OrgSignInDependencies,
  accountDigest: string,
  found: FoundOrgAdmin | undefined,
  password: string,
  { actor, source }: Pick<KnownAccount, 'actor' | 'source'>,
): Promise<CountedAttempt> {
  const tenantId = found?.organizationId ?? INSTALLATION;
  // For an unknown account the vault is queried as well, with a reference that has no secret.
  const [place, reference] = found
    ? [orgPasswordLocation(found.admin.adminId), found.admin.passwordRef]
    : [orgPasswordLocation('nobody'), INSTALLATION];
  const account = {
    tenantId,
    accountDigest,
    subjectId: found?.admin.adminId ?? null,
    actor: found ? { ...actor, kind: 'org_admin' as const } : actor,
    source,
  };
  return verifyAccountPassword(services, account, () => services.vault.get(tenantId, place, reference), password);
}
