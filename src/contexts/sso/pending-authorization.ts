import { z } from 'zod';
import { browserDigest, derived, isBrowserOf, newBrowserSecret } from '../identity/browser-binding.ts';
import { tenantOfToken } from '../identity/refresh-tokens.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AuthorizationRequest } from './openid-provider.ts';
import type { OneTimeTokens } from '../identity/one-time-tokens.ts';

export interface PendingAuthorizationDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

/** Choice OP-034. */
export const AUTHORIZATION_SECONDS = 10 * 60;

/** A browser's way to an OpenID Connect provider and back. */
export interface PendingAuthorization {
  /** The tenant, or the organization. */
  readonly owner: TenantId;
  readonly kind: 'tenant' | 'organization';
  readonly configId: string;
  /** Of the page that started it and wants a code instead of tokens (see `page-return.ts`); null: nobody does. */
  readonly challenge: string | null;
  /** Started by somebody who is to authenticate at the provider anew (see `docs/decisions/0025-step-up-authentication.md`). */
  readonly reauthenticates: boolean;
}

export interface StartedAuthorization {
  /** Opaque, kept as a digest, good once; names its owner, and so binds the answer to one issuer's configuration. */
  readonly state: string;
  /** For the browser's cookie alone; nonce and code verifier follow from it and are kept nowhere. */
  readonly browserSecret: string;
  readonly request: Omit<AuthorizationRequest, 'redirectUri'>;
}

const payloadSchema = z.object({
  kind: z.enum(['tenant', 'organization']),
  challenge: z.string().nullable(),
  browser: z.string(),
  reauthenticates: z.boolean().default(false),
});

export async function startAuthorization(
  { oneTimeTokens }: PendingAuthorizationDependencies,
  { owner, kind, configId, challenge, reauthenticates }: PendingAuthorization,
  secure: boolean,
): Promise<StartedAuthorization> {
  const browserSecret = newBrowserSecret(secure);
  const payload: z.output<typeof payloadSchema> = {
    kind,
    challenge,
    browser: browserDigest(browserSecret),
    reauthenticates,
  };
  const token = await oneTimeTokens.issue(
    'sso-state',
    { tenantId: owner, subjectId: configId, payload },
    AUTHORIZATION_SECONDS,
  );
  const state = (challenge === null ? '' : FROM_PAGE) + token;
  return { state, browserSecret, request: requestOf(state, browserSecret, reauthenticates) };
}

/**
 * The trip that a browser comes back from: begun here, not more than ten minutes ago, by this browser, and not over yet.
 * Whoever brings another browser's state ends that trip. Throws `SsoRefused`.
 */
export async function acceptCallback(
  { oneTimeTokens }: PendingAuthorizationDependencies,
  kind: PendingAuthorization['kind'],
  state: string,
  browserSecret: string | undefined,
): Promise<{ readonly authorization: PendingAuthorization; readonly request: StartedAuthorization['request'] }> {
  const token = await oneTimeTokens.spend('sso-state', tokenOf(state));
  const read = payloadSchema.safeParse(token?.payload);
  if (!token || !read.success) throw new SsoRefused('invalid_state', 'unknown or used');
  const { challenge, browser, reauthenticates } = read.data;
  if (read.data.kind !== kind) throw new SsoRefused('invalid_state', 'of another sign-in');
  if (browserSecret === undefined || !isBrowserOf(browserSecret, browser))
    throw new SsoRefused('invalid_state', 'another browser');
  return {
    authorization: { owner: token.tenantId, kind, configId: token.subjectId, challenge, reauthenticates },
    request: requestOf(state, browserSecret, reauthenticates),
  };
}

const requestOf = (state: string, browserSecret: string, reauthenticates: boolean) => ({
  state,
  nonce: derived(browserSecret, 'nonce'),
  codeVerifier: derived(browserSecret, 'code-verifier'),
  reauthenticates,
});

/** Says where a refusal is shown, nothing more: it is believed of states that are not ours, too. */
const FROM_PAGE = 'page.';
export const oidcStartedOnPage = (state: string): boolean => state.startsWith(FROM_PAGE);
const tokenOf = (state: string): string => (oidcStartedOnPage(state) ? state.slice(FROM_PAGE.length) : state);

/** Whose sign-in a state claims to be of, for the audit log: not proven. */
export const claimedOwner = (state: string): TenantId | undefined => tenantOfToken(tokenOf(state));
