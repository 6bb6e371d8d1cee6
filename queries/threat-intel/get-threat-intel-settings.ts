import type { ThreatIntelSettingsRow } from '../../projections/threat-intel/threat-intel-settings.ts';
import type { ThreatIntelView } from '../../src/contexts/threat-intel/domain/settings.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** By default all services are off and have no key. */
export const getThreatIntelSettings: Query<unknown, ThreatIntelView> = async (reads) => {
  const row = await reads.one<ThreatIntelSettingsRow>('select * from threat_intel_settings where tenant_id = $1');
  return {
    scannerEnabled: row?.scanner_enabled ?? false,
    scannerConfigured: row?.scanner_configured ?? false,
    reputationEnabled: row?.reputation_enabled ?? false,
    reputationConfigured: row?.reputation_configured ?? false,
  };
};
