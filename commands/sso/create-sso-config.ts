import type { SsoConfig } from '../../src/contexts/sso/domain/events.ts';
import { MAX_CONFIGS } from '../../src/contexts/sso/domain/fields.ts';
import {
  refuseContradiction,
  refuseEnabledBeside,
  refuseForeignKey,
  enabledConfig,
  ssoConfigs,
  ssoConfigsStream,
  ssoSecretLocation,
} from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
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
    const refused = refuseTogether(
      refuseContradiction({ ...config, isEnabled: false, secretRef: secret } as SsoConfig),
      config.protocol === 'oidc' ? await refuseUnreachableIssuer(destinations, config) : undefined,
      config.protocol === 'saml' ? refuseForeignKey(config.spCertificate, secret) : undefined,
    );
    if (refused) return refused;
    if (secret === null) return { secretRef: null };
    return { secretRef: await vault.put(tenantId, ssoSecretLocation(config.configId), secret) };
  },
  decide(state, { config }, _context, { secretRef }: { secretRef: string | null }) {
    if (state.has(config.configId)) return conflict();
    if (state.size >= MAX_CONFIGS) return conflict('limit_reached', 'too many configurations');
    const isEnabled = config.isEnabled ?? enabledConfig(state, config.protocol) === undefined;
    const created = { ...config, isEnabled, secretRef } as SsoConfig;
    const refused = refuseContradiction(created) ?? refuseEnabledBeside(state, created);
    return refused ?? accept([{ type: 'SsoConfigCreated', data: created }]);
  },
  freshens: ['sso_configs'],
});
