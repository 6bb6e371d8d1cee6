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
};
export type DomainScanRow = Row<{ columns: typeof columns }>;

const unscanned = {
  scanner_last_scanned_at: null,
  scanner_is_malicious: null,
  reputation_last_scanned_at: null,
  reputation_malicious_count: null,
};

/** The latest results of the services for each scanned domain. */
export const domainScans = defineReadModel({
  name: 'domain_scans',
  version: 1,
  lane: 'main',
  columns,
  key: ['domain'],
  families: [domainScanEvents],
  on: {
    DomainScanEnded: ({ data: { domain, endedAt, scanner, reputation } }) => ({
      key: { domain },
      fold: (row: DomainScanRow | undefined) => ({
        ...unscanned,
        ...row,
        domain,
        ...(scanner ? { scanner_last_scanned_at: endedAt, scanner_is_malicious: scanner.isMalicious } : {}),
        ...(reputation
          ? { reputation_last_scanned_at: endedAt, reputation_malicious_count: reputation.maliciousCount }
          : {}),
      }),
    }),
  },
});
