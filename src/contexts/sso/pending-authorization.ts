import { z } from 'zod';
import { browserDigest, derived, isBrowserOf, newBrowserSecret } from '../identity/browser-binding.ts';
import { tenantOfToken } from '../identity/refresh-tokens.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AuthorizationRequest } from './openid-provider.ts';
import { isRelayState } from './saml/pending-requests.ts';
import type { OneTimeTokens } from '../identity/one-time-tokens.ts';

export interface PendingAuthorizationDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

/** OP-034. */
export const AUTHORIZATION_SECONDS = 10 * 60;

/** A redirect to an OpenID Connect provider that awaits its callback. */
export interface PendingAuthorization {
  /** The tenant, or the organization. */
  readonly owner: TenantId;
  readonly kind: 'tenant' | 'organization';
  readonly configId: string;
  /**
   * The challenge of the page that started the sign-in and wants a code instead of tokens (see `page-return.ts`); null
   * if no page did.
   */
  readonly challenge: string | null;
  /**
   * True if the user has to authenticate at the provider again (see `docs/decisions/0025-step-up-authentication.md`).
   */
  readonly reauthenticates: boolean;
  /** Where the browser was sent; null if the version before started the sign-in. */
  readonly client: StartedAt | null;
  /** Of the configuration; undefined in the same case. */
  readonly version: number | undefined;
}

/** The registration that a sign-in began with. */
export interface StartedAt {
  readonly issuerUrl: string;
  readonly clientId: string;
}

export interface StartedAuthorization {
  /**
   * Opaque, stored as a digest, valid once. It identifies its owner, and so binds the callback to one issuer's
   * configuration.
   */
  readonly state: string;
  /** Stored only in the browser's cookie. Nonce and code verifier are derived from it and stored nowhere. */
  readonly browserSecret: string;
  readonly request: Omit<AuthorizationRequest, 'redirectUri'>;
}

const payloadSchema = z.object({
  kind: z.enum(['tenant', 'organization']),
  challenge: z.string().nullable(),
  browser: z.string(),
  reauthenticates: z.boolean().default(false),
  client: z.object({ issuerUrl: z.string(), clientId: z.string() }).nullable().default(null),
  version: z.int().optional(),
});

export async function startAuthorization(
  { oneTimeTokens }: PendingAuthorizationDependencies,
  { owner, kind, configId, challenge, reauthenticates, client, version }: PendingAuthorization,
  secure: boolean,
): Promise<StartedAuthorization> {
  const browserSecret = newBrowserSecret(secure);
  const payload: z.output<typeof payloadSchema> = {
    kind,
    challenge,
    browser: browserDigest(browserSecret),
    reauthenticates,
    client,
    version,
  };
  const token = await oneTimeTokens.issue(
    'sso-state',
    { tenantId: owner, subjectId: configId, payload },
    AUTHORIZATION_SECONDS,
  );
  const state = (challenge === null ? '' : FROM_PAGE) + token;
  return { state, browserSecret, request: requestOf(state, browserSecret, reauthenticates) };
}

export interface AcceptedCallback {
  readonly authorization: PendingAuthorization;
  readonly request: StartedAuthorization['request'];
  /**
   * By the database's clock, in epoch seconds: the code was sent to the provider after that. A callback that comes back
   * keeps the instant of its first time: a logout may have come in between.
   */
  readonly acceptedAt: number;
  /** Of the state. */
  readonly useId: string;
}

/**
 * Returns the pending authorization of a callback: started here at most ten minutes ago by this browser, and not yet
 * used. A callback with another browser's state also uses it up. Throws `SsoRefused`.
 */
export async function acceptCallback(
  { oneTimeTokens }: PendingAuthorizationDependencies,
  kind: PendingAuthorization['kind'],
  state: string,
  browserSecret: string | undefined,
): Promise<AcceptedCallback> {
  if (isRelayState(state)) throw new SsoRefused('invalid_state', 'of another sign-in');
  // A database that is away is found by a read, which changes nothing: the browser can come back with the same callback.
  await oneTimeTokens.peek('sso-state', tokenOf(state));
  const token = await oneTimeTokens.spend('sso-state', tokenOf(state));
  const read = payloadSchema.safeParse(token?.payload);
  if (!token || !read.success) throw new SsoRefused('invalid_state', 'unknown or used');
  const { kind: startedAs, browser, ...started } = read.data;
  if (startedAs !== kind) throw new SsoRefused('invalid_state', 'of another sign-in');
  if (browserSecret === undefined || !isBrowserOf(browserSecret, browser))
    throw new SsoRefused('invalid_state', 'another browser');
  return {
    authorization: { owner: token.tenantId, kind, configId: token.subjectId, ...started, version: started.version },
    request: requestOf(state, browserSecret, started.reauthenticates),
    acceptedAt: token.spentAt,
    useId: token.useId,
  };
}

/** For a callback whose provider or database was away: the same browser can come back with it. */
export const giveBackCallback = (
  { oneTimeTokens }: PendingAuthorizationDependencies,
  state: string,
  { acceptedAt, useId }: AcceptedCallback,
): Promise<void> => oneTimeTokens.giveBack('sso-state', tokenOf(state), { useId, spentAt: acceptedAt });

const requestOf = (state: string, browserSecret: string, reauthenticates: boolean) => ({
  state,
  nonce: derived(browserSecret, 'nonce'),
  codeVerifier: derived(browserSecret, 'code-verifier'),
  reauthenticates,
});

/** Only decides where a refusal is shown, so it need not be verified. */
const FROM_PAGE = 'page.';
export const oidcStartedOnPage = (state: string): boolean => state.startsWith(FROM_PAGE);
const tokenOf = (state: string): string => (oidcStartedOnPage(state) ? state.slice(FROM_PAGE.length) : state);

/** The owner that a state claims, for the audit log: not verified. */
export const claimedOwner = (state: string): TenantId | undefined => tenantOfToken(tokenOf(state));
