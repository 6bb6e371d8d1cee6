import { ssoConfigs, ssoConfigsStream } from '../../src/contexts/sso/domain/sso-configs.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteSsoConfig {
  readonly configId: string;
}

export const deleteSsoConfig = defineCommand({
  name: 'DeleteSsoConfig',
  aggregate: ssoConfigs,
  stream: (_input: DeleteSsoConfig, { tenantId }) => ssoConfigsStream(tenantId),
  decide(state, { configId }) {
    const config = state.get(configId);
    if (!config) return notFound();
    return accept([{ type: 'SsoConfigDeleted', data: { configId } }], { forget: [config.secretRef] });
  },
  freshens: ['sso_configs', 'live-state'],
});
