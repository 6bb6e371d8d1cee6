import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { scanServices, type ScanService } from './services.ts';

const service = z.enum(scanServices);

/** The services that a tenant uses, with its own keys. Keys are in the vault; events contain only references. */
export const threatIntelEvents = defineEvents('threatIntel', {
  ThreatIntelServicesSwitched: {
    version: 1,
    schema: z.object({ enabled: z.partialRecord(service, z.boolean()) }),
    audit: 'threat_intel.switched',
  },
  /** Null: the key was removed. */
  ThreatIntelKeyChanged: {
    version: 1,
    schema: z.object({ service, keyRef: z.string().nullable() }),
    audit: 'threat_intel.key_changed',
  },
});

export interface ThreatIntelState {
  readonly enabled: Readonly<Record<ScanService, boolean>>;
  readonly keyRefs: Readonly<Record<ScanService, string | null>>;
}

const initial: ThreatIntelState = {
  enabled: { scanner: false, reputation: false },
  keyRefs: { scanner: null, reputation: null },
};

export const threatIntel = defineAggregate<ThreatIntelState, typeof threatIntelEvents>(
  threatIntelEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'ThreatIntelServicesSwitched':
        return { ...state, enabled: { ...state.enabled, ...event.data.enabled } };
      case 'ThreatIntelKeyChanged':
        return { ...state, keyRefs: { ...state.keyRefs, [event.data.service]: event.data.keyRef } };
    }
  },
);

/** Each tenant has one such stream. */
export const threatIntelStream = (tenantId: TenantId): string => streamName('threatIntel', tenantId, tenantId);

/** The vault location of a service's key. */
export const serviceKeyLocation = (of: ScanService) => ({ owner: 'threatIntel', field: `${of}ApiKey` });

export interface ThreatIntelView {
  readonly scannerEnabled: boolean;
  readonly scannerConfigured: boolean;
  readonly reputationEnabled: boolean;
  readonly reputationConfigured: boolean;
}

export const threatIntelView = ({ enabled, keyRefs }: ThreatIntelState): ThreatIntelView => ({
  scannerEnabled: enabled.scanner,
  scannerConfigured: keyRefs.scanner !== null,
  reputationEnabled: enabled.reputation,
  reputationConfigured: keyRefs.reputation !== null,
});
