import type { SsoConfig } from '../../src/contexts/sso/domain/events.ts';
import { MAX_CONFIGS } from '../../src/contexts/sso/domain/fields.ts';
import { certifies } from '../../src/contexts/sso/domain/saml-material.ts';
import {
  brokenRule,
  enabledConfig,
  ssoConfigs,
  ssoConfigsStream,
  ssoSecretLocation,
} from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithDestinations, WithVault } from '../ports.ts';
import { refuseUnreachableIssuer } from './refuse-unreachable-issuer.ts';

type Without<Config, Names extends string> = Config extends SsoConfig ? Omit<Config, Names> : never;

interface CreateSsoConfig {
  /** If `isEnabled` is undefined, the configuration is enabled unless another one of the protocol is. */
  readonly config: Without<SsoConfig, 'secretRef' | 'isEnabled'> & { readonly isEnabled?: boolean | undefined };
  /** The client secret or the signing key; null if there is none. */
  readonly secret: string | null;
}

/** Creates an identity provider for a tenant's admins. At most one of a protocol is enabled at a time (OP-135). */
export const createSsoConfig = defineCommand({
  name: 'CreateSsoConfig',
  aggregate: ssoConfigs,
  stream: (_input: CreateSsoConfig, { tenantId }) => ssoConfigsStream(tenantId),
  async prepare(
    { config, secret }: CreateSsoConfig,
    { vault, destinations }: WithVault & WithDestinations,
    { tenantId },
  ): Promise<{ secretRef: string | null } | Failure> {
    const unreachable = config.protocol === 'oidc' ? await refuseUnreachableIssuer(destinations, config) : undefined;
    if (unreachable) return unreachable;
    if (secret === null) return { secretRef: null };
    if (config.protocol === 'saml' && config.spCertificate !== null && !certifies(config.spCertificate, secret))
      return invalid('spCertificate', 'belongs to another key');
    return { secretRef: await vault.put(tenantId, ssoSecretLocation(config.configId), secret) };
  },
  decide(state, { config }, _context, { secretRef }: { secretRef: string | null }) {
    if (state.has(config.configId)) return conflict();
    if (state.size >= MAX_CONFIGS) return conflict('limit_reached', 'too many configurations');
    const isEnabled = config.isEnabled ?? enabledConfig(state, config.protocol) === undefined;
    const created = { ...config, isEnabled, secretRef } as SsoConfig;
    return brokenRule(state, created) ?? accept([{ type: 'SsoConfigCreated', data: created }]);
  },
  freshens: ['sso_configs'],
});
