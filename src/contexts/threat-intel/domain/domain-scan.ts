import { v5 } from 'uuid';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { domainScanEvents, type DomainScanEvent } from './domain-scan-events.ts';
import { scanServices, type ScanService } from './services.ts';

const DAY_MS = 86_400_000;
/** Interface, "Domain rescans": results of exactly seven days are not stale (choice OP-129). */
const RESCANNED_AFTER_MS = 7 * DAY_MS;
/** A failed service is not queried for this time: its budget is not for retries. */
const LEFT_ALONE_MS = 15 * 60_000;
/** Two vendors must agree; a single one errs too often (choice OP-127). */
const MALICIOUS_FROM = 2;

/** The four fields of the interface, "Domain scan data". */
export interface ScanData {
  readonly scannerLastScannedAt: string | null;
  readonly scannerIsMalicious: boolean | null;
  readonly reputationLastScannedAt: string | null;
  readonly reputationMaliciousCount: number | null;
}

export interface DomainScanState {
  readonly data: ScanData;
  /** Epoch milliseconds before which a service is not queried, after a failure or an exhausted budget. */
  readonly notBefore: Readonly<Record<ScanService, number>>;
  readonly flight: { readonly scanId: string; readonly until: number } | undefined;
}

export const unscanned: ScanData = {
  scannerLastScannedAt: null,
  scannerIsMalicious: null,
  reputationLastScannedAt: null,
  reputationMaliciousCount: null,
};
const initial: DomainScanState = { data: unscanned, notBefore: { scanner: 0, reputation: 0 }, flight: undefined };

type Ended = Extract<DomainScanEvent, { type: 'DomainScanEnded' }>['data'];

export const domainScan = defineAggregate<DomainScanState, typeof domainScanEvents>(
  domainScanEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'DomainScanBegun':
        return { ...state, flight: { scanId: event.data.scanId, until: Date.parse(event.data.until) } };
      case 'DomainScanEnded': {
        const { failures, postponed, silent, endedAt } = event.data;
        const waits = [
          ...failures.map(({ service }) => [service, Date.parse(endedAt) + LEFT_ALONE_MS]),
          ...silent.map((service) => [service, Date.parse(endedAt) + RESCANNED_AFTER_MS + 1]),
          ...postponed.map(({ service, until }) => [service, Date.parse(until)]),
        ];
        return {
          data: withScanResults(state.data, event.data),
          notBefore: { ...state.notBefore, ...(Object.fromEntries(waits) as object) },
          flight: undefined,
        };
      }
    }
  },
);

/** Merges new results into the known data. */
export const withScanResults = (
  known: ScanData,
  { scanner, reputation, endedAt }: Pick<Ended, 'scanner' | 'reputation' | 'endedAt'>,
): ScanData => ({
  ...known,
  ...(scanner ? { scannerLastScannedAt: endedAt, scannerIsMalicious: scanner.isMalicious } : {}),
  ...(reputation ? { reputationLastScannedAt: endedAt, reputationMaliciousCount: reputation.maliciousCount } : {}),
});

/** UUIDv5 namespace (RFC 9562 §5.5): one stream per domain, whatever characters its name has. */
const DOMAINS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a07';

export const domainScanId = (domain: string): string => v5(domain, DOMAINS);
export const domainScanStream = (tenantId: TenantId, domain: string): string =>
  streamName('domainScan', tenantId, domainScanId(domain));

const lastScan = (data: ScanData, service: ScanService): string | null =>
  service === 'scanner' ? data.scannerLastScannedAt : data.reputationLastScannedAt;

/** Never scanned, or more than seven days ago. */
export const isStale = (data: ScanData, service: ScanService, now: number): boolean => {
  const last = lastScan(data, service);
  return last === null || isPast(last, now);
};

/** Whether seven days have passed: a service is then asked again, also if it knew nothing. */
export const isPast = (moment: string, now: number): boolean => now - Date.parse(moment) > RESCANNED_AFTER_MS;

/** Those of the services that must be queried now. */
export const dueServices = (
  { data, notBefore }: DomainScanState,
  services: readonly ScanService[],
  now: number,
): ScanService[] => services.filter((service) => isStale(data, service, now) && now >= notBefore[service]);

/** Whether the data mark the domain as malicious, whatever their age. */
export const saysMalicious = ({ scannerIsMalicious, reputationMaliciousCount }: ScanData): boolean =>
  scannerIsMalicious === true || (reputationMaliciousCount ?? 0) >= MALICIOUS_FROM;

export type DomainVerdict = 'clean' | 'malicious' | 'unknown';

/**
 * Only results of the last seven days count. The verdict is `clean` only if every service in use says so: a service that
 * knows nothing about the domain does not.
 */
export function domainVerdictOf(data: ScanData, inUse: readonly ScanService[], now: number): DomainVerdict {
  const fresh = scanServices.filter((service) => !isStale(data, service, now));
  const known: ScanData = {
    ...unscanned,
    ...(fresh.includes('scanner') ? { scannerIsMalicious: data.scannerIsMalicious } : {}),
    ...(fresh.includes('reputation') ? { reputationMaliciousCount: data.reputationMaliciousCount } : {}),
  };
  if (saysMalicious(known)) return 'malicious';
  return fresh.length > 0 && inUse.every((service) => fresh.includes(service)) ? 'clean' : 'unknown';
}
