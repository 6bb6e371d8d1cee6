import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { conflict, invalid, secretNeededAgain, type Failure } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { IssuerTrust } from './fields.ts';
import { FOREIGN_KEY, isUnbound, KEY_NEEDED, UNBOUND_TRUST } from './field-rules.ts';
import { certifies } from './saml-material.ts';
import { ssoEvents, type SsoConfig, type SsoProtocol } from './events.ts';

/** Every configuration of a tenant, by id. */
export type SsoConfigs = ReadonlyMap<string, SsoConfig>;

export const ssoConfigs = defineAggregate<SsoConfigs, typeof ssoEvents>(ssoEvents, new Map(), (state, event) => {
  const configs = new Map(state);
  if (event.type === 'SsoConfigDeleted') configs.delete(event.data.configId);
  else configs.set(event.data.configId, event.data);
  return configs;
});

/** Each tenant has one such stream. */
export const ssoConfigsStream = (tenantId: TenantId): string => streamName('sso', tenantId, tenantId);

export const ssoSecretLocation = (configId: string) => ({ owner: `sso-config/${configId}`, field: 'secret' });

export function enabledConfig<P extends SsoProtocol>(
  configs: SsoConfigs,
  protocol: P,
): Extract<SsoConfig, { protocol: P }> | undefined {
  return [...configs.values()].find(
    (config): config is Extract<SsoConfig, { protocol: P }> => config.protocol === protocol && config.isEnabled,
  );
}

/** At most one configuration of an owner is enabled (OP-135). */
export const refuseSecondEnabled = (isEnabled: boolean, othersEnabled: number): Failure | undefined =>
  isEnabled && othersEnabled > 0 ? conflict('sso_enabled_elsewhere') : undefined;

/**
 * Refuses to send a stored client secret to a new issuer.
 *
 * The service sends the secret to the token endpoint that the issuer names. So only a caller who knows the secret may
 * choose another issuer. Otherwise an administrator who can change the configuration, but never read the secret, could
 * have it sent to a server of their own.
 */
export const refuseSecretForNewIssuer = (
  stored: { readonly issuerUrl: string },
  updated: { readonly issuerUrl: string },
  keepsSecret: boolean,
): Failure | undefined =>
  keepsSecret && updated.issuerUrl !== stored.issuerUrl ? secretNeededAgain('clientSecret', 'issuerUrl') : undefined;

export const refuseUnboundTrust = (
  config: Pick<IssuerTrust, 'emailsVerified'> & { readonly emailDomains: readonly string[] },
): Failure | undefined => (isUnbound(config) ? invalid('emailsVerified', UNBOUND_TRUST) : undefined);

/** What contradicts within one configuration. */
export function refuseContradiction(config: SsoConfig): Failure | undefined {
  if (config.protocol === 'oidc') return refuseUnboundTrust(config);
  return config.signRequests && config.secretRef === null ? invalid('signRequests', KEY_NEEDED) : undefined;
}

/** The certificate that a provider is shown has to be of the key that signs. */
export const refuseForeignKey = (certificate: string | null, key: string | null): Failure | undefined =>
  certificate === null || key === null || certifies(certificate, key)
    ? undefined
    : invalid('spCertificate', FOREIGN_KEY);

/** Of each protocol, one is enabled (OP-135). */
export function refuseEnabledBeside(configs: SsoConfigs, config: SsoConfig): Failure | undefined {
  const enabled = enabledConfig(configs, config.protocol);
  return refuseSecondEnabled(config.isEnabled, enabled && enabled.configId !== config.configId ? 1 : 0);
}
