import { domainScan, domainScanStream, dueServices } from '../../src/contexts/threat-intel/domain/domain-scan.ts';
import type { ScanService } from '../../src/contexts/threat-intel/domain/services.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface BeginDomainScan {
  readonly scanId: string;
  readonly domain: string;
  /** The enabled services that have a key. */
  readonly services: readonly ScanService[];
}

/** Longer than any scan takes: after a crash during a scan, another process may begin again. */
const FLIGHT_MS = 60_000;

/**
 * Starts a scan if none is in progress. Of concurrent callers only one gets services to query; the others get an empty
 * list.
 */
export const beginDomainScan = defineCommand({
  name: 'BeginDomainScan',
  aggregate: domainScan,
  stream: ({ domain }: BeginDomainScan, { tenantId }) => domainScanStream(tenantId, domain),
  decide(state, { scanId, domain, services }, { now }) {
    const due = state.flight && now < state.flight.until ? [] : dueServices(state, services, now);
    if (due.length === 0) return acceptWith({ due }, []);
    return acceptWith({ due }, [
      {
        type: 'DomainScanBegun',
        data: { scanId, domain, services: due, until: new Date(now + FLIGHT_MS).toISOString() },
      },
    ]);
  },
});
