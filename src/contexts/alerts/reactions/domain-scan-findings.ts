import type { DomainScanEvent } from '../../threat-intel/domain/domain-scan-events.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import type { Finding } from './finding.ts';

type DomainScanEnded = Extract<DomainScanEvent, { type: 'DomainScanEnded' }> & Envelope;

/** A service that was queried just now reports the domain as malicious (choice OP-127). */
export function maliciousDomain({ id, data }: DomainScanEnded): Finding[] {
  const { scanId, domain, isMalicious, scanner, reputation, endedAt, deviceId, userId } = data;
  if (!isMalicious || (!scanner && !reputation)) return [];
  return [
    {
      alertType: 'malicious_domain',
      title: `Malicious domain: ${domain}`,
      description: 'A threat-intelligence service classifies the domain as malicious.',
      userId,
      deviceId,
      domain,
      url: null,
      occurrences: [{ observationId: id, occurredAt: endedAt }],
      metadata: {
        kind: 'domain_scan',
        observedAt: endedAt,
        observationIds: [],
        scanId,
        scannerIsMalicious: scanner?.isMalicious ?? null,
        reputationMaliciousCount: reputation?.maliciousCount ?? null,
      },
    },
  ];
}
