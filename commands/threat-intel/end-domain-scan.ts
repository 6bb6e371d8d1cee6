import type { DomainScanEvent } from '../../src/contexts/threat-intel/domain/domain-scan-events.ts';
import {
  domainScan,
  domainScanStream,
  withScanResults,
  saysMalicious,
} from '../../src/contexts/threat-intel/domain/domain-scan.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

type Ended = Extract<DomainScanEvent, { type: 'DomainScanEnded' }>['data'];
export type EndDomainScan = Omit<Ended, 'endedAt' | 'isMalicious'>;

/**
 * Records the results and failures of a scan. A scan that exceeded its time was taken over by another scan, whose
 * result counts.
 */
export const endDomainScan = defineCommand({
  name: 'EndDomainScan',
  aggregate: domainScan,
  stream: ({ domain }: EndDomainScan, { tenantId }) => domainScanStream(tenantId, domain),
  decide(state, input, { now }) {
    if (state.flight?.scanId !== input.scanId) return acceptWith({ data: state.data }, []);
    const endedAt = new Date(now).toISOString();
    const data = withScanResults(state.data, { ...input, endedAt });
    const isMalicious = saysMalicious(data);
    // Visits are not to be recorded: the requester is kept only if an alert must name the person.
    const requester = isMalicious ? {} : { deviceId: null, userId: null };
    return acceptWith({ data }, [{ type: 'DomainScanEnded', data: { ...input, ...requester, endedAt, isMalicious } }]);
  },
  freshens: ['domain_scans'],
});
