import { randomUUID } from 'node:crypto';
import type { SsoProtocol } from '../sso/domain/events.ts';
import { coversEmail } from '../sso/domain/fields.ts';
import type { SsoRefusal } from '../sso/domain/refusals.ts';
import type { VouchedBy } from '../sso/domain/vouching.ts';
import type { RecordedSsoRefusals } from '../sso/recorded-refusals.ts';
import { adminByAccount, tenant, tenantStream, type AdminState } from '../tenants/domain/tenant.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { issueReauthentication, type ReauthenticationDependencies } from './reauthentication.ts';
import { openSession, type SessionTokens, type SignInDependencies } from './sign-in.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';

export interface SsoSignInDependencies extends ReauthenticationDependencies, SignInDependencies {
  readonly loader: AggregateLoader;
  readonly executor: Executor<CommandPorts>;
  readonly ssoRefusals: RecordedSsoRefusals;
  accountDigest(email: string): string;
}

/**
 * A sign-in through an identity provider was refused. The reason is for the login page, the detail for the audit log.
 */
export class SsoRefused extends Error {
  readonly reason: SsoRefusal;
  readonly detail: string | null;
  readonly subjectId: string | null;
  /** The id of the entry in the audit log, if another request may record the same. */
  readonly attemptId: string | null;
  constructor(
    reason: SsoRefusal,
    detail: string | null = null,
    subjectId: string | null = null,
    attemptId: string | null = null,
  ) {
    super(`${reason}${detail ? `: ${detail}` : ''}`);
    this.name = 'SsoRefused';
    this.reason = reason;
    this.detail = detail;
    this.subjectId = subjectId;
    this.attemptId = attemptId;
  }
}

/** The identity that a provider proved, after all verification. */
export interface ProvenIdentity {
  /** Verified by the provider; unverified addresses never get here. */
  readonly email: string;
  /** The domains that the provider may vouch for; empty: any (field `emailDomains` of its configuration). */
  readonly emailDomains: readonly string[];
}

/** The tenant's active admin with that e-mail. Accounts are never created here (OP-035). Throws `SsoRefused`. */
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
  /** The provider was asked for a fresh authentication and confirmed it. */
  readonly reauthenticated: boolean;
  /** A fresh UUID, if the caller has to know it before the session begins. */
  readonly sessionId?: string;
  /** Epoch milliseconds at which the provider's session ends, if it says so. */
  readonly until?: number | undefined;
}

export interface SsoTokens extends SessionTokens {
  /** For users without a password: their provider has re-authenticated them. */
  readonly reAuthToken?: string;
}

/** Opens a session that records the protocol. Further factors are the provider's responsibility (OP-035). */
export async function openSsoSession(
  services: SsoSignInDependencies,
  tenantId: TenantId,
  { adminId, sessionEpoch, role }: AdminState,
  proof: SsoProof,
  actor: Actor,
): Promise<SsoTokens> {
  const { method, vouchedBy, reauthenticated, sessionId = randomUUID(), until } = proof;
  const tokens = await openSession(services, {
    tenantId,
    sessionId,
    subjectId: adminId,
    subjectKind: 'admin',
    epoch: sessionEpoch,
    role,
    method,
    vouchedBy,
    until,
    actor,
  });
  return reauthenticated
    ? { ...tokens, reAuthToken: await issueReauthentication(services, { tenantId, adminId, sessionId }) }
    : tokens;
}
