import { ORG_OIDC_CALLBACK, OIDC_CALLBACK } from './domain/addresses.ts';
import type { OidcConfig } from './domain/events.ts';
import type { VouchedBy } from './domain/vouching.ts';
import { SsoRefused, type ProvenIdentity } from '../identity/sso-sign-in.ts';
import { vouchedByNow } from '../identity/vouching.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { guardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { enabledSsoConfig, type EnabledConfig, type EnabledConfigDependencies } from './enabled-config.ts';
import { openIdProvider } from './openid-client-provider.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import {
  acceptCallback,
  startAuthorization,
  type StartedAuthorization,
  type PendingAuthorization,
  type PendingAuthorizationDependencies,
} from './pending-authorization.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';

export interface OidcSignInDependencies extends EnabledConfigDependencies, PendingAuthorizationDependencies {
  readonly config: { readonly devMode: boolean };
  readonly loader: AggregateLoader;
}

/** Of an organization's configuration the same is needed as of a tenant's. */
type Registered = EnabledConfig<
  Pick<OidcConfig, 'configId' | 'issuerUrl' | 'clientId' | 'scopes'> & { readonly emailDomains: readonly string[] }
>;
/** The enabled configuration of whoever owns the sign-in, as it is now. */
type FindConfig = (owner: TenantId) => Promise<Registered | undefined>;

const CALLBACKS = { tenant: OIDC_CALLBACK, organization: ORG_OIDC_CALLBACK } as const;

export const openIdProviderOf = (
  { config: { devMode } }: OidcSignInDependencies,
  { config, secret }: Registered,
): OpenIdProvider =>
  openIdProvider(
    { ...config, clientSecret: secret },
    { fetch: guardedFetch({ allowPrivate: devMode }), allowHttp: devMode },
  );

export interface StartedSignIn extends StartedAuthorization {
  readonly address: string;
  /** Whether browsers reach this service over TLS. */
  readonly secure: boolean;
}

/** Throws `SsoRefused`: there is no provider, or it cannot be used. */
export async function startOidcSignIn(
  services: OidcSignInDependencies,
  found: Registered | undefined,
  trip: Omit<PendingAuthorization, 'configId'>,
): Promise<StartedSignIn> {
  if (!found) throw new SsoRefused('sso_not_configured');
  const departure = await startAuthorization(services, { ...trip, configId: found.config.configId }, isSecure(found));
  const redirectUri = found.externalBaseUrl + CALLBACKS[trip.kind];
  const address = await openIdProviderOf(services, found).authorizationUrl({ ...departure.request, redirectUri });
  return { ...departure, address: address.href, secure: isSecure(found) };
}

export interface OidcCallback {
  readonly state: string;
  readonly query: URLSearchParams;
  readonly browserSecret: string | undefined;
}

export interface FinishedSignIn {
  readonly authorization: PendingAuthorization;
  readonly identity: ProvenIdentity;
  /** As the configuration was before the provider was asked: one that is changed meanwhile has vouched for nobody. */
  readonly vouchedBy: VouchedBy;
  readonly browserSecret: string;
  readonly secure: boolean;
}

/** Whom the provider vouches for. `onTrip` hears of the trip as soon as it is believed. Throws `SsoRefused`. */
export async function finishOidcSignIn(
  services: OidcSignInDependencies,
  kind: PendingAuthorization['kind'],
  { state, query, browserSecret }: OidcCallback,
  find: FindConfig,
  onTrip: (authorization: PendingAuthorization) => void,
): Promise<FinishedSignIn> {
  const { authorization: trip, request } = await acceptCallback(services, kind, state, browserSecret);
  onTrip(trip);
  const vouchedBy = await vouchedByNow(services.loader, kind, trip.owner, trip.configId);
  const found = await find(trip.owner);
  // Another configuration has been enabled since: what comes back is of an issuer that nobody trusts here any more.
  if (found?.config.configId !== trip.configId) throw new SsoRefused('sso_not_configured');
  const redirectUri = found.externalBaseUrl + CALLBACKS[kind];
  const { email } = await openIdProviderOf(services, found).redeem(query, { ...request, redirectUri });
  return {
    authorization: trip,
    vouchedBy,
    identity: { email, emailDomains: found.config.emailDomains },
    browserSecret: browserSecret!,
    secure: isSecure(found),
  };
}

export const tenantOidcConfig =
  (services: OidcSignInDependencies): FindConfig =>
  (tenantId) =>
    enabledSsoConfig(services, tenantId, 'oidc');

const isSecure = ({ externalBaseUrl }: Registered): boolean => externalBaseUrl.toLowerCase().startsWith('https:');
