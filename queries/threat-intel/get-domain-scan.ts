import type { DomainScanRow } from '../../projections/threat-intel/domain-scans.ts';
import { isPast, isStale, unscanned, type ScanData } from '../../src/contexts/threat-intel/domain/domain-scan.ts';
import { isScannable } from '../../src/contexts/threat-intel/domain/scannable.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { getThreatIntelSettings } from './get-threat-intel-settings.ts';

export interface DomainScanNeed extends ScanData {
  readonly domain: string;
  readonly needsScan: boolean;
  readonly scannerNeedsScan: boolean;
  readonly reputationNeedsScan: boolean;
}

const SQL = 'select * from domain_scans where tenant_id = $1 and domain = $2';

/** Choice OP-125: considers each enabled service. `now` in epoch milliseconds. */
export const getDomainScan: Query<{ domain: string; now: number }, DomainScanNeed> = async (reads, { domain, now }) => {
  const [row, settings] = await Promise.all([
    reads.one<DomainScanRow>(SQL, [domain]),
    getThreatIntelSettings(reads, undefined).then(orThrow),
  ]);
  const data: ScanData = row
    ? {
        scannerLastScannedAt: row.scanner_last_scanned_at,
        scannerIsMalicious: row.scanner_is_malicious,
        reputationLastScannedAt: row.reputation_last_scanned_at,
        reputationMaliciousCount: row.reputation_malicious_count,
      }
    : unscanned;
  const mayAsk = (silentAt: string | null | undefined) => isScannable(domain) && (!silentAt || isPast(silentAt, now));
  const scannerNeedsScan = settings.scannerEnabled && mayAsk(row?.scanner_silent_at) && isStale(data, 'scanner', now);
  const reputationNeedsScan =
    settings.reputationEnabled && mayAsk(row?.reputation_silent_at) && isStale(data, 'reputation', now);
  return { domain, needsScan: scannerNeedsScan || reputationNeedsScan, scannerNeedsScan, reputationNeedsScan, ...data };
};
