import { describe, expect, it } from 'vitest';
import { beginDomainScan } from '../../../commands/threat-intel/begin-domain-scan.ts';
import { endDomainScan } from '../../../commands/threat-intel/end-domain-scan.ts';
import {
  isStale,
  saysMalicious,
  unscanned,
  domainVerdictOf,
  type ScanData,
} from '../../../src/contexts/threat-intel/domain/domain-scan.ts';
import { isScannable } from '../../../src/contexts/threat-intel/domain/scannable.ts';
import { given, NOW } from '../../dsl/given.ts';

const [FIRST, SECOND] = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'];
const DAY = 86_400_000;
const iso = (at: number) => new Date(at).toISOString();
const domain = 'shop.example';
const begun = (scanId = FIRST, at = NOW) => ({
  type: 'DomainScanBegun' as const,
  data: { scanId, domain, services: ['scanner' as const], until: iso(at + 60_000) },
});
const ending = {
  scanId: FIRST,
  domain,
  scanner: null,
  reputation: null,
  silent: [],
  failures: [],
  postponed: [],
  deviceId: null,
  userId: null,
};
const ended = (over: object, at = NOW) => ({
  type: 'DomainScanEnded' as const,
  data: { ...ending, endedAt: iso(at), isMalicious: false, ...over },
});
const both = { scanId: SECOND, domain, services: ['scanner', 'reputation'] as const };
const scan = (over: Partial<ScanData>): ScanData => ({ ...unscanned, ...over });

describe('a domain scan', () => {
  it('is due if there was none, or it is more than seven days old: exactly seven are not more', () => {
    const data = scan({ scannerLastScannedAt: iso(NOW) });
    expect([6, 7, 8].map((days) => isStale(data, 'scanner', NOW + days * DAY))).toEqual([false, false, true]);
    expect([isStale(data, 'scanner', NOW + 7 * DAY + 1), isStale(unscanned, 'scanner', NOW)]).toEqual([true, true]);
  });

  it('runs one at a time, and another may start when its time is up', () => {
    given(begun()).when(beginDomainScan, both).thenNothing();
    expect(given(begun()).when(beginDomainScan, both).result()).toEqual({ due: [] });
    given(begun())
      .when(beginDomainScan, both, undefined, { now: NOW + 60_000 })
      .thenTypes('DomainScanBegun');
    given(begun(), begun(SECOND))
      .when(endDomainScan, { ...ending, scanner: { isMalicious: true } })
      .thenNothing();
  });

  it('queries the services that are due, each separately', () => {
    const history = [begun(), ended({ scanner: { isMalicious: false } })];
    expect(
      given(...history)
        .when(beginDomainScan, both)
        .result(),
    ).toEqual({ due: ['reputation'] });
    expect(
      given(...history)
        .when(beginDomainScan, both, undefined, { now: NOW + 8 * DAY })
        .result(),
    ).toEqual({ due: ['scanner', 'reputation'] });
  });

  it('skips a failed service for a quarter of an hour, and one without budget until there is some', () => {
    const failed = [
      begun(),
      ended({
        failures: [{ service: 'scanner', reason: 'the service cannot be reached' }],
        postponed: [{ service: 'reputation', until: iso(NOW + 30_000) }],
      }),
    ];
    const dueAfter = (ms: number) =>
      given(...failed)
        .when(beginDomainScan, both, undefined, { now: NOW + ms })
        .result().due;
    expect([0, 29_999, 30_000, 900_000].map(dueAfter)).toEqual([[], [], ['reputation'], ['scanner', 'reputation']]);
  });

  it('ends with a verdict from all stored results', () => {
    given(begun(), ended({ scanner: { isMalicious: true } }), begun())
      .when(endDomainScan, { ...ending, reputation: { maliciousCount: 0 } })
      .then({
        type: 'DomainScanEnded',
        data: { ...ending, reputation: { maliciousCount: 0 }, endedAt: iso(NOW), isMalicious: true },
      });
  });

  it('calls a domain malicious if the scanner or two vendors do', () => {
    const words = [
      { scannerIsMalicious: true },
      { reputationMaliciousCount: 2 },
      { reputationMaliciousCount: 1 },
      { scannerIsMalicious: false, reputationMaliciousCount: 0 },
      {},
    ];
    expect(words.map((known) => saysMalicious(scan(known)))).toEqual([true, true, false, false, false]);
  });

  it('calls one clean only when all used services have said so within seven days', () => {
    const clean = scan({ scannerLastScannedAt: iso(NOW), scannerIsMalicious: false });
    const bad = scan({ scannerLastScannedAt: iso(NOW), scannerIsMalicious: true });
    expect(domainVerdictOf(clean, ['scanner'], NOW)).toBe('clean');
    expect(domainVerdictOf(clean, ['scanner', 'reputation'], NOW)).toBe('unknown');
    expect(domainVerdictOf(clean, ['scanner'], NOW + 8 * DAY)).toBe('unknown');
    expect(domainVerdictOf(bad, ['scanner', 'reputation'], NOW)).toBe('malicious');
    expect(domainVerdictOf(bad, ['scanner'], NOW + 8 * DAY)).toBe('unknown');
    expect(domainVerdictOf(unscanned, [], NOW)).toBe('unknown');
  });

  it('rejects internal names', () => {
    expect(
      ['10.0.0.1', '[::1]', 'intranet', 'wiki.corp', 'printer.local', 'nas.home.arpa', 'db.internal'].filter(
        isScannable,
      ),
    ).toEqual([]);
    expect(['shop.example', 'local.example.com', 'www.corp.example.org'].filter((host) => !isScannable(host))).toEqual(
      [],
    );
  });
});
