import { ssoConfigsStream } from '../sso/domain/sso-configs.ts';
import { managedAfter, type ManagedBy } from '../sso/domain/managed-by.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

export interface ManagedConfig {
  readonly configId: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly managedBy: ManagedBy;
}

/**
 * A tenant's SSO configurations with their owners, read from the log, because a read model may be behind when the
 * tenant is detached.
 */
export async function managedConfigs(
  store: Pick<EventStore, 'readStream'>,
  tenantId: TenantId,
): Promise<ManagedConfig[]> {
  const configs = new Map<string, ManagedConfig>();
  for (const { type, data, metadata } of await store.readStream(ssoConfigsStream(tenantId))) {
    const { configId, name, isEnabled } = data as Omit<ManagedConfig, 'managedBy'>;
    if (type === 'SsoConfigDeleted') configs.delete(configId);
    else
      configs.set(configId, {
        configId,
        name,
        isEnabled,
        managedBy: managedAfter(configs.get(configId)?.managedBy, metadata.actor.kind),
      });
  }
  return [...configs.values()];
}
