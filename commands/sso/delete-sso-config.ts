import { ssoConfigs, ssoConfigsStream } from '../../src/domain/sso/sso-configs.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { notFound } from '../../src/kernel/failure.ts';

interface DeleteSsoConfig {
  readonly configId: string;
}

/** Answers the reference of the secret that nothing uses any more, for the caller to forget. */
export const deleteSsoConfig = defineCommand({
  name: 'DeleteSsoConfig',
  aggregate: ssoConfigs,
  stream: (_input: DeleteSsoConfig, { tenantId }) => ssoConfigsStream(tenantId),
  decide(state, { configId }) {
    const config = state.get(configId);
    if (!config) return notFound();
    return acceptWith({ unusedSecret: config.secretRef }, [{ type: 'SsoConfigDeleted', data: { configId } }]);
  },
  freshens: ['sso_configs', 'live-state'],
});
