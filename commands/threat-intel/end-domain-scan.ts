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

/** What came of a scan, the failures too. A scan whose time was up has been taken over by another, whose word counts. */
export const endDomainScan = defineCommand({
  name: 'EndDomainScan',
  aggregate: domainScan,
  stream: ({ domain }: EndDomainScan, { tenantId }) => domainScanStream(tenantId, domain),
  decide(state, input, { now }) {
    if (state.flight?.scanId !== input.scanId) return acceptWith({ data: state.data }, []);
    const endedAt = new Date(now).toISOString();
    const data = withScanResults(state.data, { ...input, endedAt });
    const isMalicious = saysMalicious(data);
    // Who visited what is no history: it is kept where an alert has to say whom it is about.
    const asker = isMalicious ? {} : { deviceId: null, userId: null };
    return acceptWith({ data }, [{ type: 'DomainScanEnded', data: { ...input, ...asker, endedAt, isMalicious } }]);
  },
  freshens: ['domain_scans'],
});
