import type { ScanService } from '../../src/contexts/threat-intel/domain/services.ts';
import { serviceKeyLocation, threatIntel, threatIntelStream } from '../../src/contexts/threat-intel/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { Vault } from '../../src/platform/vault/vault.ts';

interface ChangeServiceKey {
  readonly service: ScanService;
  /** Null removes the key. */
  readonly apiKey: string | null;
}

/** Changes or removes the API key of a service. */
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
