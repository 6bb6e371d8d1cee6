import type { OidcConfig, SamlConfig, SsoProtocol } from './domain/events.ts';
import { enabledConfig, ssoConfigs, ssoConfigsStream, ssoSecretLocation } from './domain/sso-configs.ts';
import { tenant, tenantStream } from '../tenants/domain/tenant.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import type { Vault } from '../../platform/vault/vault.ts';

export interface EnabledConfigDependencies {
  readonly loader: AggregateLoader;
  readonly vault: Vault;
}

export interface EnabledConfig<Config> {
  readonly config: Config;
  /** The client secret or the signing key, decrypted. */
  readonly secret: string | null;
  /** The tenant's base address, from which callbacks and entity ids are built. */
  readonly externalBaseUrl: string;
}

type ConfigOf<P extends SsoProtocol> = P extends 'oidc' ? OidcConfig : SamlConfig;

/** The enabled provider of a tenant's admins, read now; undefined also for an unknown tenant. */
export async function enabledSsoConfig<P extends SsoProtocol>(
  { loader, vault }: EnabledConfigDependencies,
  tenantId: TenantId,
  protocol: P,
): Promise<EnabledConfig<ConfigOf<P>> | undefined> {
  const [configs, { exists, externalBaseUrl }] = await Promise.all([
    loader.load(ssoConfigs, ssoConfigsStream(tenantId)),
    loader.load(tenant, tenantStream(tenantId)),
  ]);
  const config = enabledConfig(configs, protocol) as ConfigOf<P> | undefined;
  if (!exists || !config) return undefined;
  const secret =
    config.secretRef === null
      ? undefined
      : await vault.get(tenantId, ssoSecretLocation(config.configId), config.secretRef);
  return { config, secret: secret?.toString() ?? null, externalBaseUrl };
}
