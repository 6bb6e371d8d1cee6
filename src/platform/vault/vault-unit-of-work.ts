import type { UnitOfWork } from '../execution/unit-of-work.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Vault } from './vault.ts';

/** Secrets are stored before the event that refers to them. If the command fails, `compensate` deletes them. */
export function vaultUnitOfWork<Ports extends { readonly vault: Vault }>(ports: Ports): UnitOfWork<Ports> {
  const { vault } = ports;
  const stored: { tenantId: TenantId; reference: string }[] = [];
  const recordingVault: Vault = {
    put: async (tenantId, place, secret) => {
      const reference = await vault.put(tenantId, place, secret);
      stored.push({ tenantId, reference });
      return reference;
    },
    get: (tenantId, place, reference) => vault.get(tenantId, place, reference),
    forget: (tenantId, reference) => vault.forget(tenantId, reference),
  };
  return {
    ports: { ...ports, vault: recordingVault },
    compensate: async () => {
      await Promise.all(stored.splice(0).map(({ tenantId, reference }) => vault.forget(tenantId, reference)));
    },
  };
}
