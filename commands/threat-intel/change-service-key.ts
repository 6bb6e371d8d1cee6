import type { ScanService } from '../../src/contexts/threat-intel/domain/services.ts';
import { serviceKeyLocation, threatIntel, threatIntelStream } from '../../src/contexts/threat-intel/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { Vault } from '../../src/platform/vault/vault.ts';

interface ChangeServiceKey {
  readonly service: ScanService;
  /** Null: there is none from now on. */
  readonly apiKey: string | null;
}

/** The key with which a service is asked: another one, or none. */
export const changeServiceKey = defineCommand({
  name: 'ChangeThreatIntelKey',
  aggregate: threatIntel,
  stream: (_input: ChangeServiceKey, { tenantId }) => threatIntelStream(tenantId),
  prepare: async ({ service, apiKey }: ChangeServiceKey, { vault }: { vault: Vault }, { tenantId }) => ({
    keyRef: apiKey === null ? null : await vault.put(tenantId, serviceKeyLocation(service), apiKey),
  }),
  decide(state, { service }, _context, { keyRef }) {
    const former = state.keyRefs[service];
    if (former === null && keyRef === null) return accept([]);
    return accept([{ type: 'ThreatIntelKeyChanged', data: { service, keyRef } }], { forget: [former] });
  },
  freshens: ['threat_intel_settings'],
});
