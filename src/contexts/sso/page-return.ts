import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { SsoProtocol } from './domain/events.ts';
import { vouchedBySchema, type SignInBasis } from './domain/vouching.ts';
import type { SsoRefusal } from './domain/refusals.ts';
import { codeNaming } from './named-protocol.ts';
import { providerSubjectSchema, type ProviderSubject } from './oidc-sessions.ts';
import { samlMarksSchema, type SamlMarks } from './saml/logout-marks.ts';
import { codeOfAnotherPage, unknownCode, type CodeOwner } from './refused-exchange.ts';
import { publicHint } from './refusal-hints.ts';
import type { OneTimeTokens, TokenUse } from '../identity/one-time-tokens.ts';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/**
 * A single sign-on that began on the sign-in page also ends there: with a code in the address instead of tokens in the
 * response.
 *
 * The page keeps a verifier and sends its digest at the start (as in PKCE, RFC 7636). So a code is valid only in the
 * tab that requested it. A link cannot sign a user in as someone else, and a code from a browser history is useless.
 */
export const pageReturnQuery = {
  return_to: z.literal('login').optional(),
  /** BASE64URL(SHA-256(verifier)), required with `return_to`. */
  challenge: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'must be a base64url SHA-256 digest')
    .optional(),
};

/** Stored in the sign-in's signed or stored state; undefined if the response is JSON. */
export const pageReturnSchema = z.object({ challenge: z.string() }).optional();
/** Bounded, because it travels on to the provider. */
export const loginHint = z.string().max(256).optional();
export type PageReturn = z.output<typeof pageReturnSchema>;

export const pageReturnOf = ({
  return_to,
  challenge,
}: {
  return_to?: 'login' | undefined;
  challenge?: string | undefined;
}): PageReturn => {
  if (return_to !== 'login') return undefined;
  // Without it, the browser would be shown the tokens.
  if (challenge === undefined) throw new FailureError(invalid('challenge', 'is required with return_to'));
  return { challenge };
};

/** The account that the provider vouched for. The session begins when the code is redeemed. */
export interface SignInHandover {
  readonly tenantId: TenantId;
  readonly adminId: string;
  /**
   * The admin's session epoch at that moment: if they are signed out everywhere in the meantime, the code is refused.
   */
  readonly sessionEpoch: number;
  readonly method: SsoProtocol;
  readonly basis: SignInBasis;
  readonly reauthenticated: boolean;
  /** Epoch milliseconds at which the session at the provider ends, if it says so. */
  readonly until?: number | undefined;
  /** The session at a SAML provider, sealed. */
  readonly providerSession?: string | undefined;
  /** The same as digests. A logout there ends the code, too. */
  readonly marks?: SamlMarks | undefined;
  /** The session at an OpenID Connect provider. A logout there ends the code, too. */
  readonly provider?: ProviderSubject | undefined;
}

export interface RedeemedHandover extends SignInHandover {
  readonly use: TokenUse;
}

export const HANDOVER_SECONDS = 60;
/** The challenge of a sign-in without a page: no verifier has this digest. */
const NO_CHALLENGE = '';
const payloadSchema = z.object({
  method: z.enum(['oidc', 'saml']),
  challenge: z.string(),
  sessionEpoch: z.int(),
  vouchedBy: vouchedBySchema,
  version: z.int().optional(),
  reauthenticated: z.boolean().default(false),
  until: z.number().optional(),
  providerSession: z.string().optional(),
  marks: samlMarksSchema.optional(),
  provider: providerSubjectSchema.optional(),
});

/**
 * Returns a code. Without a page nobody can exchange it: it is only what a logout at the provider ends
 * (`begin-unless-logged-out.ts`).
 */
export const issueHandover = (
  tokens: OneTimeTokens,
  { tenantId, adminId, basis, ...handed }: SignInHandover,
  page: PageReturn,
): Promise<string> =>
  tokens.issue(
    'sso-handoff',
    { tenantId, subjectId: adminId, payload: { challenge: page?.challenge ?? NO_CHALLENGE, ...basis, ...handed } },
    HANDOVER_SECONDS,
  );

/** The address on this host to redirect the browser to. */
export const handoverAddress = (tenantId: TenantId, protocol: SsoProtocol, token: string): string =>
  `/login?${new URLSearchParams({ tenant_id: tenantId, sso_code: codeNaming(protocol, token) }).toString()}`;

/** The sign-in page's address with the reason of a refusal (OP-150), and a hint if the detail has one. */
export const refusalAddress = (reason: SsoRefusal, tenantId?: TenantId, detail: string | null = null): string => {
  const parameters = { ...(tenantId ? { tenant_id: tenantId } : {}), sso_error: reason, ...hintOf(detail) };
  return `/login?${new URLSearchParams(parameters).toString()}`;
};

/** The same for an organization (OP-150, OP-152). */
export const orgRefusalAddress = (reason: SsoRefusal, detail: string | null = null): string =>
  `/login?${new URLSearchParams({ org_sso_error: reason, ...hintOf(detail) }).toString()}`;

function hintOf(detail: string | null): { readonly sso_hint?: string } {
  const hint = publicHint(detail);
  return hint === undefined ? {} : { sso_hint: hint };
}

/**
 * The sign-in page's address that starts a sign-in through a provider, with the page's own proof. The hint is in the
 * fragment, so that no server log holds it.
 */
export const beginningAddress = (
  begin: { readonly tenant_id: string; readonly sso_start: SsoProtocol } | { readonly org_sso_start: string },
  loginHint: string | undefined,
): string => {
  const fragment = loginHint === undefined ? '' : `#${new URLSearchParams({ login_hint: loginHint }).toString()}`;
  return `/login?${new URLSearchParams(begin).toString()}${fragment}`;
};

/** Spends the code, whether or not the verifier is right. Calls `onOwner` if the code is known. Throws `SsoRefused`. */
export async function redeemHandover(
  tokens: OneTimeTokens,
  code: string,
  verifier: string,
  onOwner: (owner: CodeOwner) => void,
): Promise<RedeemedHandover> {
  const token = await tokens.spend('sso-handoff', code);
  const payload = payloadSchema.safeParse(token?.payload);
  if (!token || !payload.success) throw unknownCode();
  const { challenge, vouchedBy, version, ...handed } = payload.data;
  const { tenantId, subjectId, useId } = token;
  onOwner({ tenantId, subjectId, useId, protocol: handed.method, configId: vouchedBy.configId });
  const given = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const expected = Buffer.from(challenge);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw codeOfAnotherPage();
  return { tenantId, adminId: subjectId, basis: { vouchedBy, version }, use: { useId }, ...handed };
}
