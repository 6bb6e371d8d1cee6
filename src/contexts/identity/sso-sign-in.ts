import { randomUUID } from 'node:crypto';
import { refuseSsoSignIn } from '../../../commands/sso/refuse-sso-sign-in.ts';
import type { SsoProtocol } from '../sso/domain/events.ts';
import { coversEmail } from '../sso/domain/fields.ts';
import type { SsoRefusal } from '../sso/domain/refusals.ts';
import type { VouchedBy } from '../sso/domain/vouching.ts';
import { adminByAccount, tenant, tenantStream, type AdminState } from '../tenants/domain/tenant.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { issueReauthentication, type ReauthenticationDependencies } from './reauthentication.ts';
import { openSession, type SessionTokens, type SignInDependencies } from './sign-in.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';

export interface SsoSignInDependencies extends ReauthenticationDependencies, SignInDependencies {
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  accountDigest(email: string): string;
}

/** Somebody came from an identity provider and is not let in. The reason is for the login page, the detail for the audit log. */
export class SsoRefused extends Error {
  readonly reason: SsoRefusal;
  readonly detail: string | null;
  readonly subjectId: string | null;
  constructor(reason: SsoRefusal, detail: string | null = null, subjectId: string | null = null) {
    super(`${reason}${detail ? `: ${detail}` : ''}`);
    this.name = 'SsoRefused';
    this.reason = reason;
    this.detail = detail;
    this.subjectId = subjectId;
  }
}

/** What a provider proved: everything about it has been verified before it comes here. */
export interface ProvenIdentity {
  /** Verified by the provider; otherwise it is nobody's. */
  readonly email: string;
  /** The domains that the provider speaks for; none: any (field `emailDomains` of its configuration). */
  readonly emailDomains: readonly string[];
}

/** The tenant's admin of that e-mail, active. Never made here (choice OP-035). Throws `SsoRefused`. */
export async function admitAdmin(
  { loader, accountDigest }: SsoSignInDependencies,
  tenantId: TenantId,
  { email, emailDomains }: ProvenIdentity,
): Promise<AdminState> {
  if (!coversEmail(emailDomains, email)) throw new SsoRefused('account_not_found', 'foreign domain');
  const admin = adminByAccount(await loader.load(tenant, tenantStream(tenantId)), accountDigest(email));
  if (!admin) throw new SsoRefused('account_not_found');
  if (admin.status !== 'active') throw new SsoRefused('account_disabled', null, admin.adminId);
  return admin;
}

export interface SsoProof {
  readonly method: SsoProtocol;
  readonly vouchedBy: VouchedBy;
  /** The provider was asked to authenticate the person anew, and said that it has just done so. */
  readonly reauthenticated: boolean;
}

export interface SsoTokens extends SessionTokens {
  /** For those who have no password to re-authenticate with: their provider has done it. */
  readonly reAuthToken?: string;
}

/** A session whose start says by which protocol; the provider has seen to further factors (choice OP-035). */
export async function openSsoSession(
  services: SsoSignInDependencies,
  tenantId: TenantId,
  { adminId, sessionEpoch, role }: AdminState,
  proof: SsoProof,
  actor: Actor,
): Promise<SsoTokens> {
  const sessionId = randomUUID();
  const { method, vouchedBy, reauthenticated } = proof;
  const tokens = await openSession(services, {
    tenantId,
    sessionId,
    subjectId: adminId,
    subjectKind: 'admin',
    epoch: sessionEpoch,
    role,
    method,
    vouchedBy,
    actor,
  });
  return reauthenticated
    ? { ...tokens, reAuthToken: await issueReauthentication(services, { tenantId, adminId, sessionId }) }
    : tokens;
}

export interface RefusedAttempt {
  /** Undefined where nothing believable says whose sign-in it was. */
  readonly tenantId: TenantId | undefined;
  readonly protocol: SsoProtocol;
  readonly configId: string | null;
  readonly actor: Actor;
}

/** Puts a refusal into the audit log of whom it concerns: the tenant, the organization, or else the installation. */
export async function auditRefusal(
  { executor }: SsoSignInDependencies,
  { tenantId = INSTALLATION, protocol, configId, actor }: RefusedAttempt,
  { reason, detail, subjectId }: SsoRefused,
): Promise<void> {
  await executor.execute(refuseSsoSignIn, { protocol, reason, detail, configId, subjectId }, { tenantId, actor });
}
