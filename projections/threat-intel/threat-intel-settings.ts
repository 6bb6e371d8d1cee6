import { threatIntelEvents } from '../../src/contexts/threat-intel/domain/settings.ts';
import { at, defineReadModel, flag, id, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  id,
  scanner_enabled: flag,
  scanner_configured: flag,
  reputation_enabled: flag,
  reputation_configured: flag,
  updated_at: timestamp,
};
export type ThreatIntelSettingsRow = Row<{ columns: typeof columns }>;

const unset = {
  scanner_enabled: false,
  scanner_configured: false,
  reputation_enabled: false,
  reputation_configured: false,
};

/** A tenant's settings, one row per tenant. Keys appear only as configured or not. */
export const threatIntelSettings = defineReadModel({
  name: 'threat_intel_settings',
  version: 1,
  lane: 'main',
  columns,
  key: ['id'],
  families: [threatIntelEvents],
  on: {
    ThreatIntelServicesSwitched: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => {
        const { scanner, reputation } = event.data.enabled;
        const { scanner_enabled, reputation_enabled } = row ?? unset;
        return {
          ...unset,
          ...row,
          id: event.tenantId,
          scanner_enabled: scanner ?? scanner_enabled,
          reputation_enabled: reputation ?? reputation_enabled,
          updated_at: at(event),
        };
      },
    }),
    ThreatIntelKeyChanged: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => ({
        ...unset,
        ...row,
        id: event.tenantId,
        [`${event.data.service}_configured` satisfies keyof ThreatIntelSettingsRow]: event.data.keyRef !== null,
        updated_at: at(event),
      }),
    }),
  },
});
