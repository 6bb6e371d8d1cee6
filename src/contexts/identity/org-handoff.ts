import { organization, organizationStream, type OrgAdminState } from '../organizations/domain/organization.ts';
import { vouchedBySchema, type VouchedBy } from '../sso/domain/vouching.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { browserDigest, isBrowserOf } from './browser-binding.ts';
import { isStillVouchedFor } from './vouching.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { OneTimeTokens } from './one-time-tokens.ts';

export interface OrgHandoffDependencies {
  readonly loader: AggregateLoader;
  readonly oneTimeTokens: OneTimeTokens;
}

/** Interface "Limits": about a minute, once. */
export const HANDOFF_SECONDS = 60;

/** What proves that a code is exchanged where it was asked for: the cookie's secret, or the page's verifier. */
export interface HandoffProof {
  readonly browserSecret: string | undefined;
  readonly verifier: string | undefined;
}

/**
 * A code that the login page exchanges for tokens, since those never stand in a URL. Kept as a digest, good once, and only
 * in the browser that went to the provider: by a link alone nobody is signed in as somebody else. No session exists before
 * the exchange.
 */
export function issueOrgHandoff(
  services: OrgHandoffDependencies,
  organizationId: TenantId,
  { adminId, sessionEpoch }: OrgAdminState,
  bound: {
    readonly browserSecret: string;
    readonly challenge: string | null;
    readonly vouchedBy: VouchedBy;
    readonly reauthenticated: boolean;
  },
): Promise<string> {
  const { challenge, vouchedBy, reauthenticated } = bound;
  const payload = {
    epoch: sessionEpoch,
    browser: browserDigest(bound.browserSecret),
    challenge,
    vouchedBy,
    reauthenticated,
  };
  return services.oneTimeTokens.issue(
    'org-handoff',
    { tenantId: organizationId, subjectId: adminId, payload },
    HANDOFF_SECONDS,
  );
}

/**
 * The admin of a code, unless they were suspended or signed out everywhere in that minute, or their provider is none any more.
 * Spends the code, also in the wrong browser: a code that was seen elsewhere is no good any more.
 */
export async function redeemOrgHandoff(
  services: OrgHandoffDependencies,
  code: string,
  { browserSecret, verifier }: HandoffProof,
): Promise<
  | {
      readonly organizationId: TenantId;
      readonly admin: OrgAdminState;
      readonly vouchedBy: VouchedBy;
      readonly reauthenticated: boolean;
    }
  | undefined
> {
  const token = await services.oneTimeTokens.spend('org-handoff', code);
  if (!token) return undefined;
  const { tenantId: organizationId, subjectId, payload } = token;
  // A challenge is the digest of its verifier (RFC 7636 §4.6), as the cookie's is of its secret. A page that said one alone has its
  // verifier: the cookie is in the browser of whoever was sent there by a link, too. And a page that has one did not begin this.
  const isPages = Boolean(verifier) || Boolean(payload['challenge']);
  const isTheirs = isPages
    ? isBrowserOf(verifier, payload['challenge'])
    : isBrowserOf(browserSecret, payload['browser']);
  if (!isTheirs) return undefined;
  const vouchedBy = vouchedBySchema.safeParse(payload['vouchedBy']).data;
  if (!vouchedBy || !(await isStillVouchedFor(services.loader, 'organization', organizationId, vouchedBy)))
    return undefined;
  const admin = (await services.loader.load(organization, organizationStream(organizationId))).admins.get(subjectId);
  return admin?.status === 'active' && admin.sessionEpoch === payload['epoch']
    ? { organizationId, admin, vouchedBy, reauthenticated: payload['reauthenticated'] === true }
    : undefined;
}
