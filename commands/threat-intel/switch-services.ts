import { scanServices, type ScanService } from '../../src/contexts/threat-intel/domain/services.ts';
import { threatIntel, threatIntelStream, threatIntelView } from '../../src/contexts/threat-intel/domain/settings.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface SwitchServices {
  /** Omitted services keep their value. */
  readonly enabled: Partial<Record<ScanService, boolean | undefined>>;
}

/** A service may be enabled before it has a key; until then it is skipped (choice OP-124). */
export const switchServices = defineCommand({
  name: 'SwitchThreatIntelServices',
  aggregate: threatIntel,
  stream: (_input: SwitchServices, { tenantId }) => threatIntelStream(tenantId),
  decide(state, { enabled }) {
    const changed = scanServices.filter(
      (service) => enabled[service] !== undefined && enabled[service] !== state.enabled[service],
    );
    const changes = Object.fromEntries(changed.map((service) => [service, enabled[service]!]));
    const result = threatIntelView({ ...state, enabled: { ...state.enabled, ...changes } });
    return acceptWith(
      result,
      changed.length > 0 ? [{ type: 'ThreatIntelServicesSwitched', data: { enabled: changes } }] : [],
    );
  },
  shown: threatIntelView,
  freshens: ['threat_intel_settings'],
});
