import { z } from 'zod';
import { organization, organizationStream, type OrgAdminState } from '../organizations/domain/organization.ts';
import { vouchedBySchema, type SignInBasis, type VouchedBy } from '../sso/domain/vouching.ts';
import { providerSubjectSchema, type ProviderSubject } from '../sso/oidc-sessions.ts';
import { CHANGED } from '../sso/domain/refusals.ts';
import { signedOutSince, codeOfAnotherPage, unknownCode, type CodeOwner } from '../sso/refused-exchange.ts';
import { SsoRefused } from './sso-sign-in.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { browserDigest, isBrowserOf } from './browser-binding.ts';
import { isStillCarried } from './vouching.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { OneTimeTokens, TokenUse } from './one-time-tokens.ts';

export interface OrgHandoffDependencies {
  readonly loader: AggregateLoader;
  readonly oneTimeTokens: OneTimeTokens;
}

/** Interface "Limits": about a minute, one use. */
export const HANDOFF_SECONDS = 60;

/**
 * Proves that a code is redeemed by the browser or page that requested it: the cookie's secret, or the page's verifier.
 */
export interface HandoffProof {
  readonly browserSecret: string | undefined;
  readonly verifier: string | undefined;
}

/**
 * Issues a code that the login page exchanges for tokens, because tokens never appear in a URL.
 *
 * The code is stored as a digest and valid once, and only in the browser that went to the provider: a link alone cannot
 * sign a user in as someone else. No session exists before the exchange.
 */
export function issueOrgHandoff(
  services: OrgHandoffDependencies,
  organizationId: TenantId,
  { adminId, sessionEpoch }: OrgAdminState,
  bound: {
    readonly browserSecret: string;
    readonly challenge: string | null;
    readonly basis: SignInBasis;
    readonly reauthenticated: boolean;
    /** A logout at the provider ends the code, too. */
    readonly provider: ProviderSubject;
  },
): Promise<string> {
  const { challenge, basis, reauthenticated, provider } = bound;
  const payload = {
    epoch: sessionEpoch,
    browser: browserDigest(bound.browserSecret),
    challenge,
    ...basis,
    reauthenticated,
    provider,
  };
  return services.oneTimeTokens.issue(
    'org-handoff',
    { tenantId: organizationId, subjectId: adminId, payload },
    HANDOFF_SECONDS,
  );
}

export interface RedeemedOrgHandoff {
  readonly organizationId: TenantId;
  readonly admin: OrgAdminState;
  readonly vouchedBy: VouchedBy;
  readonly reauthenticated: boolean;
  readonly provider: ProviderSubject | undefined;
  readonly use: TokenUse;
}

/**
 * Returns the admin of a code, unless they were suspended or signed out everywhere since, or their provider is no
 * longer valid, or not in the same way. Spends the code even in the wrong browser: a code that was seen elsewhere must
 * not be usable. Calls `onOwner` if the code is known. Throws `SsoRefused`.
 */
export async function redeemOrgHandoff(
  services: OrgHandoffDependencies,
  code: string,
  { browserSecret, verifier }: HandoffProof,
  onOwner: (owner: CodeOwner) => void,
): Promise<RedeemedOrgHandoff> {
  const token = await services.oneTimeTokens.spend('org-handoff', code);
  const vouchedBy = vouchedBySchema.safeParse(token?.payload['vouchedBy']).data;
  if (!token || !vouchedBy) throw unknownCode();
  const { tenantId: organizationId, subjectId, payload, useId } = token;
  onOwner({ tenantId: organizationId, subjectId, useId, protocol: 'oidc', configId: vouchedBy.configId });
  // A challenge is the digest of its verifier (RFC 7636 §4.6), just as the cookie's digest is of its secret. If the
  // page gave a challenge, only its verifier counts: the cookie is also in a browser that was sent there by a link. A
  // verifier without a challenge comes from a page that did not begin this sign-in.
  const isPages = Boolean(verifier) || Boolean(payload['challenge']);
  const isTheirs = isPages
    ? isBrowserOf(verifier, payload['challenge'])
    : isBrowserOf(browserSecret, payload['browser']);
  if (!isTheirs) throw codeOfAnotherPage();
  const version = z.int().safeParse(payload['version']).data;
  if (!(await isStillCarried(services.loader, 'organization', organizationId, { vouchedBy, version })))
    throw new SsoRefused('sso_not_configured', CHANGED);
  const admin = (await services.loader.load(organization, organizationStream(organizationId))).admins.get(subjectId);
  if (!admin) throw new SsoRefused('account_not_found');
  if (admin.status !== 'active') throw new SsoRefused('account_disabled');
  if (admin.sessionEpoch !== payload['epoch']) throw signedOutSince();
  return {
    organizationId,
    admin,
    vouchedBy,
    reauthenticated: payload['reauthenticated'] === true,
    provider: providerSubjectSchema.safeParse(payload['provider']).data,
    use: { useId },
  };
}
