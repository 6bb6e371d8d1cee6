import { AFTER_LOGOUT, ORG_OIDC_CALLBACK, OIDC_CALLBACK } from './domain/addresses.ts';
import type { OidcConfig } from './domain/events.ts';
import type { IssuerTrust } from './domain/fields.ts';
import type { SignInBasis } from './domain/vouching.ts';
import { SsoRefused, type ProvenIdentity } from '../identity/sso-sign-in.ts';
import { CHANGED } from './domain/refusals.ts';
import { basisNow, isStillCarried } from '../identity/vouching.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { recordEndedCodes } from './ended-codes.ts';
import type { RecordedSsoRefusals } from './recorded-refusals.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { destinationFetch, type OutboundSettings } from '../../platform/outbound/destinations.ts';
import { enabledSsoConfig, type EnabledConfig, type EnabledConfigDependencies } from './enabled-config.ts';
import type { AskedIssuer, OidcSessions, ProviderSubject, SignInTimes } from './oidc-sessions.ts';
import { openIdProvider } from './openid-client-provider.ts';
import { isProviderAway } from './openid-refusals.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import {
  acceptCallback,
  giveBackCallback,
  startAuthorization,
  type AcceptedCallback,
  type StartedAuthorization,
  type PendingAuthorization,
  type PendingAuthorizationDependencies,
} from './pending-authorization.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';

export interface OidcSignInDependencies extends EnabledConfigDependencies, PendingAuthorizationDependencies {
  readonly config: OutboundSettings;
  readonly loader: AggregateLoader;
  readonly oidcSessions: OidcSessions;
}

/** The common part of a tenant's and an organization's configuration. */
type Registered = EnabledConfig<
  Pick<OidcConfig, 'configId' | 'issuerUrl' | 'clientId' | 'scopes' | keyof IssuerTrust> & {
    readonly emailDomains: readonly string[];
  }
>;
/** Loads the enabled configuration of the sign-in's owner. */
export type FindConfig = (owner: TenantId) => Promise<Registered | undefined>;

const CALLBACKS = { tenant: OIDC_CALLBACK, organization: ORG_OIDC_CALLBACK } as const;

export const openIdProviderOf = (
  { config: settings }: OidcSignInDependencies,
  { config, secret }: Registered,
): OpenIdProvider =>
  openIdProvider(
    { ...config, clientSecret: secret },
    { fetch: destinationFetch(settings, config), allowHttp: settings.devMode },
  );

export interface StartedSignIn extends StartedAuthorization {
  readonly address: string;
  /** True if browsers reach this service over TLS. */
  readonly secure: boolean;
}

/** Throws `SsoRefused` if there is no provider or it cannot be used. */
export async function startOidcSignIn(
  services: OidcSignInDependencies,
  found: Registered | undefined,
  authorization: Omit<PendingAuthorization, 'configId' | 'client' | 'version'>,
  loginHint?: string,
): Promise<StartedSignIn> {
  if (!found) throw new SsoRefused('sso_not_configured');
  const { configId, issuerUrl, clientId } = found.config;
  const { version } = await basisNow(services.loader, authorization.kind, authorization.owner, configId);
  const started = await startAuthorization(
    services,
    { ...authorization, configId, client: { issuerUrl, clientId }, version },
    isSecure(found),
  );
  const redirectUri = found.externalBaseUrl + CALLBACKS[authorization.kind];
  const address = await openIdProviderOf(services, found).authorizationUrl({
    ...started.request,
    redirectUri,
    loginHint,
  });
  return { ...started, address: address.href, secure: isSecure(found) };
}

export interface OidcCallback {
  readonly state: string;
  readonly query: URLSearchParams;
  readonly browserSecret: string | undefined;
}

export interface FinishedSignIn {
  readonly accepted: AcceptedCallback;
  readonly authorization: PendingAuthorization;
  readonly identity: ProvenIdentity;
  /** Read before the provider is called: if the configuration changes afterwards, the sign-in is refused. */
  readonly basis: SignInBasis;
  readonly browserSecret: string;
  readonly secure: boolean;
  /** For the logout at the provider. */
  readonly idToken: string;
  readonly issuer: AskedIssuer;
  /** For a logout by the provider. */
  readonly provider: ProviderSubject;
  readonly times: SignInTimes;
}

/**
 * Returns the identity that the provider vouches for. Calls `onAuthorization` as soon as the authorization is verified.
 * Throws `SsoRefused`. If the provider or a dependency was away, the callback counts again: a code that the provider has not
 * seen is still good.
 */
export async function finishOidcSignIn(
  services: OidcSignInDependencies,
  kind: PendingAuthorization['kind'],
  { state, query, browserSecret }: OidcCallback,
  find: FindConfig,
  onAuthorization: (authorization: PendingAuthorization) => void,
): Promise<FinishedSignIn> {
  const accepted = await acceptCallback(services, kind, state, browserSecret);
  onAuthorization(accepted.authorization);
  try {
    return await redeemed(services, kind, { query, browserSecret }, find, accepted);
  } catch (error) {
    if (!(error instanceof SsoRefused) || isProviderAway(error)) await giveBackCallback(services, state, accepted);
    throw error;
  }
}

async function redeemed(
  services: OidcSignInDependencies,
  kind: PendingAuthorization['kind'],
  { query, browserSecret }: Omit<OidcCallback, 'state'>,
  find: FindConfig,
  accepted: AcceptedCallback,
): Promise<FinishedSignIn> {
  const { authorization, request, acceptedAt } = accepted;
  const { owner, configId, client } = authorization;
  const now = await basisNow(services.loader, kind, owner, configId);
  const { vouchedBy, version } = { ...now, version: authorization.version ?? now.version };
  const found = await find(owner);
  // Disabled, deleted or changed since: the callback is from an issuer that is no longer trusted in the same way.
  if (found?.config.configId !== configId || version !== now.version)
    throw new SsoRefused('sso_not_configured', CHANGED);
  // The code of one issuer is none of another one's business.
  if (client && (client.issuerUrl !== found.config.issuerUrl || client.clientId !== found.config.clientId))
    throw new SsoRefused('sso_not_configured', CHANGED);
  const redirectUri = found.externalBaseUrl + CALLBACKS[kind];
  const person = await openIdProviderOf(services, found).redeem(query, { ...request, redirectUri });
  if (!(await isStillCarried(services.loader, kind, owner, { vouchedBy, version })))
    throw new SsoRefused('sso_not_configured', CHANGED);
  const { email, idToken } = person;
  return {
    accepted,
    authorization,
    basis: { vouchedBy, version },
    identity: { email, emailDomains: found.config.emailDomains },
    browserSecret: browserSecret!,
    secure: isSecure(found),
    idToken,
    issuer: found.config,
    provider: services.oidcSessions.subjectOf(configId, person),
    times: { acceptedAt, issuedAt: person.issuedAt },
  };
}

export interface EndedSession {
  readonly owner: TenantId;
  readonly sessionId: string;
  readonly state: string;
  readonly actor: Actor;
  /** An ID token of this session's person. */
  readonly idTokenHint: string | undefined;
}

/** The ID token that the browser kept, if it is of this session's person: it is that of the last sign-in, of whomever. */
export async function ownIdToken(
  { oidcSessions }: OidcSignInDependencies,
  found: Registered,
  { owner, sessionId }: Pick<EndedSession, 'owner' | 'sessionId'>,
  kept: string | undefined,
): Promise<string | undefined> {
  const isTheirs = kept !== undefined && (await oidcSessions.isOf(owner, sessionId, found.config.configId, kept));
  return isTheirs ? kept : undefined;
}

/**
 * The address at which the browser also signs out of the provider; null if the provider has none, or cannot be used:
 * the own session has ended already, so that is no error. Codes of the same session at the provider end, too.
 */
export async function logoutAddress(
  services: OidcSignInDependencies & { readonly ssoRefusals: RecordedSsoRefusals },
  found: Registered | undefined,
  { owner, sessionId, state, actor, idTokenHint }: EndedSession,
): Promise<string | null> {
  if (!found) return null;
  const codes = await services.oidcSessions.endCodesBeside(owner, sessionId);
  await recordEndedCodes(services, { tenantId: owner, protocol: 'oidc', actor }, codes);
  try {
    const request = { returnTo: found.externalBaseUrl + AFTER_LOGOUT, state, idTokenHint };
    return (await openIdProviderOf(services, found).endSessionUrl(request))?.href ?? null;
  } catch (error) {
    if (error instanceof SsoRefused) return null;
    throw error;
  }
}

export const tenantOidcConfig =
  (services: OidcSignInDependencies): FindConfig =>
  (tenantId) =>
    enabledSsoConfig(services, tenantId, 'oidc');

export const isSecure = ({ externalBaseUrl }: Pick<Registered, 'externalBaseUrl'>): boolean =>
  externalBaseUrl.toLowerCase().startsWith('https:');
