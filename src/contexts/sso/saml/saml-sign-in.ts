import { REAUTHENTICATION_SECONDS } from '../../identity/reauthentication.ts';
import { admitAdmin, SsoRefused, type SsoSignInDependencies } from '../../identity/sso-sign-in.ts';
import { basisNow, isStillCarried } from '../../identity/vouching.ts';
import type { AdminState } from '../../tenants/domain/tenant.ts';
import { SAML_CALLBACK, samlEntityId, samlLogoutUrl } from '../domain/addresses.ts';
import type { SamlConfig } from '../domain/events.ts';
import { nameIdFormatUrn } from '../domain/fields.ts';
import type { SsoRefusal } from '../domain/refusals.ts';
import { certificatesOf } from '../domain/saml-material.ts';
import type { SignInBasis } from '../domain/vouching.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { enabledSsoConfig, type EnabledConfig, type EnabledConfigDependencies } from '../enabled-config.ts';
import { CHANGED } from '../domain/refusals.ts';
import { acceptResponse, type ResponseChecks } from './accept-response.ts';
import { authnRequestAddress } from './authn-request.ts';
import type { SamlMarks } from './logout-marks.ts';
import { type PendingRequests, type OpenRequest, type PendingRequest } from './pending-requests.ts';
import type { Issued, ProviderSessions } from './provider-sessions.ts';
import { SamlRefused, type SamlRefusal } from './refused.ts';
import { serviceProviderMetadata, type ServiceProvider } from './service-provider.ts';
import { emailOf } from './subject.ts';
import { forgetUse, useOnce } from './used-messages.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { AggregateLoader } from '../../../platform/execution/aggregate-loader.ts';
import type { Lookups } from '../../identity/lookups.ts';

export interface SamlSignInDependencies extends EnabledConfigDependencies, SsoSignInDependencies {
  readonly pendingSamlRequests: PendingRequests;
  readonly samlSessions: ProviderSessions;
  readonly samlResponses: ResponseChecks;
  readonly database: Database;
  readonly loader: AggregateLoader;
  readonly lookups: Lookups;
}

/** The tenant's service provider, also before a provider is configured. Logout messages are signed whenever there is a key. */
const serviceProviderOf = (
  tenantId: TenantId,
  externalBaseUrl: string,
  enabled?: EnabledConfig<SamlConfig>,
): ServiceProvider => ({
  entityId: samlEntityId(externalBaseUrl, tenantId),
  acsUrl: externalBaseUrl + SAML_CALLBACK,
  sloUrl: samlLogoutUrl(externalBaseUrl, tenantId),
  nameIdFormat: nameIdFormatUrn[enabled?.config.nameIdFormat ?? 'emailAddress'],
  signingKey: enabled?.config.signRequests ? (enabled.secret ?? undefined) : undefined,
  certificate: enabled?.config.spCertificate ?? undefined,
});

/** Returns undefined if the tenant does not exist. */
export async function metadataOf(services: SamlSignInDependencies, tenantId: TenantId): Promise<string | undefined> {
  const [known, enabled] = await Promise.all([
    services.lookups.tenant(tenantId, tenantId),
    enabledSsoConfig(services, tenantId, 'saml'),
  ]);
  return known && serviceProviderMetadata(serviceProviderOf(tenantId, known.externalBaseUrl, enabled));
}

/**
 * The address to redirect the browser to; undefined if the tenant has no SAML provider. `options` as in
 * `PendingRequest`.
 */
export async function startSamlSignIn(
  services: SamlSignInDependencies,
  tenantId: TenantId,
  options: Pick<PendingRequest, 'browser' | 'reauthenticates'>,
): Promise<string | undefined> {
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!enabled) return undefined;
  const { configId } = enabled.config;
  const { version } = await basisNow(services.loader, 'tenant', tenantId, configId);
  const request = await services.pendingSamlRequests.open({ tenantId, configId, version, ...options });
  return authnRequestAddress(serviceProviderOf(tenantId, enabled.externalBaseUrl, enabled), enabled.config.idpSsoUrl, {
    id: request.requestId,
    relayState: request.relayState,
    now: Date.now(),
    reauthenticates: options.reauthenticates,
  });
}

export interface SamlCallback {
  /** Base64, as posted. */
  readonly samlResponse: string;
  readonly relayState: string;
}

export interface FinishedSamlSignIn {
  readonly admin: AdminState;
  readonly basis: SignInBasis;
  /** Sealed. */
  readonly providerSession: string;
  readonly marks: SamlMarks;
  readonly issued: Issued;
  /** Epoch milliseconds until which the session at the provider lasts, if it says so. */
  readonly until: number | undefined;
}

/**
 * Returns the admin that the provider vouches for, and the provider's session. Request and assertion are used up only if the response is valid.
 * Throws `SamlRefused` and `SsoRefused`. `giveBackIfRepeatable` gets what makes both count again.
 */
export async function finishSamlSignIn(
  services: SamlSignInDependencies,
  { samlResponse, relayState }: SamlCallback,
  { tenantId, configId, requestId, reauthenticates, version: begunWith, useId }: OpenRequest,
  giveBackIfRepeatable: (giveBack: () => Promise<void>) => void,
): Promise<FinishedSamlSignIn> {
  giveBackIfRepeatable(() => services.pendingSamlRequests.giveBack(relayState, { useId }));
  const now = await basisNow(services.loader, 'tenant', tenantId, configId);
  const basis = { ...now, version: begunWith ?? now.version };
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (enabled?.config.configId !== configId || basis.version !== now.version)
    throw new SsoRefused('sso_not_configured', CHANGED);
  const { entityId: spEntityId, acsUrl } = serviceProviderOf(tenantId, enabled.externalBaseUrl, enabled);
  const { idpEntityId, idpCertificate, emailAttribute, emailDomains } = enabled.config;
  const certificates = (certificatesOf(idpCertificate) ?? []).map((certificate) => certificate.toString());
  const at = Date.now();
  const expected = {
    idpEntityId,
    spEntityId,
    acsUrl,
    requestId,
    now: at,
    authenticatedSince: reauthenticates ? at - REAUTHENTICATION_SECONDS * 1_000 : undefined,
  };
  const { subject, assertionId, endsAt, issuedAt, until } = await acceptResponse(
    services.samlResponses,
    tenantId,
    samlResponse,
    expected,
    certificates,
  );
  await services.pendingSamlRequests.close(relayState, { useId });
  const used = { kind: 'assertion', tenantId, configId, issuer: idpEntityId, id: assertionId, endsAt } as const;
  const { service } = services.database;
  const deliveryId = await useOnce(service, used);
  giveBackIfRepeatable(() => forgetUse(service, used, deliveryId));
  // The response may have waited for its turn.
  if (!(await isStillCarried(services.loader, 'tenant', tenantId, basis)))
    throw new SsoRefused('sso_not_configured', CHANGED);
  const email = emailOf(subject, emailAttribute);
  if (email === undefined) throw new SsoRefused('email_missing', 'no single e-mail');
  return {
    admin: await admitAdmin(services, tenantId, { email, emailDomains }),
    basis,
    providerSession: services.samlSessions.seal(subject),
    marks: services.samlSessions.marksOf(configId, subject),
    issued: { issuer: idpEntityId, issuedAt },
    until,
  };
}

const REASONS: Readonly<Partial<Record<SamlRefusal, SsoRefusal>>> = {
  status: 'idp_error',
  not_requested: 'invalid_state',
  replayed: 'invalid_state',
};

/** Maps a SAML refusal to the codes of single sign-on; the protocol's own code becomes the detail in the audit log. */
export const ssoRefusalOf = (error: SamlRefused): SsoRefused =>
  new SsoRefused(REASONS[error.reason] ?? 'invalid_assertion', error.reason);
