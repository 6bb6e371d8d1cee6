import { domainScanEvents } from '../../src/contexts/threat-intel/domain/domain-scan-events.ts';
import {
  defineReadModel,
  flag,
  integer,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  domain: text,
  scanner_last_scanned_at: nullable(timestamp),
  scanner_is_malicious: nullable(flag),
  reputation_last_scanned_at: nullable(timestamp),
  reputation_malicious_count: nullable(integer),
  /** When the service last said that it knows nothing about the domain. */
  scanner_silent_at: nullable(timestamp),
  reputation_silent_at: nullable(timestamp),
  /** The verdict from everything known, whatever its age. */
  is_malicious: flag,
};
export type DomainScanRow = Row<{ columns: typeof columns }>;

const unscanned = {
  scanner_last_scanned_at: null,
  scanner_is_malicious: null,
  reputation_last_scanned_at: null,
  reputation_malicious_count: null,
  scanner_silent_at: null,
  reputation_silent_at: null,
};

/** The latest results of the services for each scanned domain. */
export const domainScans = defineReadModel({
  name: 'domain_scans',
  version: 2,
  lane: 'main',
  columns,
  key: ['domain'],
  indexes: ['(tenant_id, domain) where is_malicious'],
  families: [domainScanEvents],
  on: {
    DomainScanEnded: ({ data: { domain, endedAt, scanner, reputation, silent, isMalicious } }) => ({
      key: { domain },
      fold: (row: DomainScanRow | undefined) => ({
        ...unscanned,
        ...row,
        domain,
        is_malicious: isMalicious,
        ...(silent.includes('scanner') ? { scanner_silent_at: endedAt } : {}),
        ...(silent.includes('reputation') ? { reputation_silent_at: endedAt } : {}),
        ...(scanner ? { scanner_last_scanned_at: endedAt, scanner_is_malicious: scanner.isMalicious } : {}),
        ...(reputation
          ? { reputation_last_scanned_at: endedAt, reputation_malicious_count: reputation.maliciousCount }
          : {}),
      }),
    }),
  },
});
