import type { ScanService } from '../../src/domain/threat-intel/services.ts';
import { keyPlace, threatIntel, threatIntelStream } from '../../src/domain/threat-intel/settings.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import type { Vault } from '../../src/vault/vault.ts';

interface ChangeServiceKey {
  readonly service: ScanService;
  /** Null: there is none from now on. */
  readonly apiKey: string | null;
}

/** Answers the references of secrets that nothing refers to any more. */
export const changeServiceKey = defineCommand({
  name: 'ChangeThreatIntelKey',
  aggregate: threatIntel,
  stream: (_input: ChangeServiceKey, { tenantId }) => threatIntelStream(tenantId),
  prepare: async ({ service, apiKey }: ChangeServiceKey, { vault }: { vault: Vault }, { tenantId }) => ({
    keyRef: apiKey === null ? null : await vault.put(tenantId, keyPlace(service), apiKey),
  }),
  decide(state, { service }, _context, { keyRef }) {
    const former = state.keyRefs[service];
    const secretsGivenUp = former === null ? [] : [former];
    if (former === null && keyRef === null) return acceptWith({ secretsGivenUp }, []);
    return acceptWith({ secretsGivenUp }, [{ type: 'ThreatIntelKeyChanged', data: { service, keyRef } }]);
  },
  freshens: ['threat_intel_settings'],
});
