import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ChangeBaseUrl {
  /** Without a slash at the end. */
  readonly externalBaseUrl: string;
}

/** The URL at which browsers reach the service. Addresses that depend on it follow (OP-340). */
export const changeBaseUrl = defineCommand({
  name: 'ChangeBaseUrl',
  aggregate: tenant,
  stream: (_input: ChangeBaseUrl, { tenantId }) => tenantStream(tenantId),
  decide(state, { externalBaseUrl }) {
    if (!state.exists) return notFound();
    const isSame = state.externalBaseUrl === externalBaseUrl;
    return accept(isSame ? [] : [{ type: 'TenantBaseUrlChanged', data: { externalBaseUrl } }]);
  },
  shown: ({ exists, externalBaseUrl }) => (exists ? { externalBaseUrl } : undefined),
  freshens: ['tenants', 'tenant_directory', 'live-state'],
});
