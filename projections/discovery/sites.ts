import { siteOf } from '../../src/platform/web-addresses/site.ts';
import { authEndpointEvents, endpointEvents } from '../../src/contexts/discovery/domain/events.ts';
import { riskFactors, riskScore, type RiskFactor } from '../../src/contexts/discovery/domain/risk.ts';
import { byHost, earlier, later, type HostSightings } from '../../src/contexts/discovery/domain/sightings.ts';
import type { Classification, MfaOverride } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { domainScanEvents } from '../../src/contexts/threat-intel/domain/domain-scan-events.ts';
import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import {
  at,
  bigint,
  defineReadModel,
  flag,
  integer,
  json,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

interface Mark {
  readonly domain: string;
  readonly classification: Classification | null;
  readonly mfaOverride: MfaOverride | null;
  /** A threat-intelligence service calls the host malicious. */
  readonly isScannedMalicious: boolean;
}

const columns = {
  site: text,
  credential_attempts: bigint,
  breached_attempts: bigint,
  /** A password was entered here; `credential_uses` has the details. */
  has_credentials: flag,
  mfa_sign_ins: bigint,
  warnings: bigint,
  blocks: bigint,
  dangers: bigint,
  /** Hosts with a decision by an analyst, or with a verdict of a threat-intelligence service. */
  marks: json<readonly Mark[]>(),
  risk_factors: json<readonly RiskFactor[]>(),
  risk_score: integer,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
};
export type SiteRow = Row<{ columns: typeof columns }>;
type Counters = Omit<SiteRow, 'risk_factors' | 'risk_score'>;

const MAX_MARKS = 500;

/** The attack surface by registrable domain, with the current risk. An index lists the riskiest first. */
export const sites = defineReadModel({
  name: 'sites',
  version: 4,
  lane: 'telemetry',
  columns,
  key: ['site'],
  indexes: [['risk_score desc', 'site'], '(tenant_id, site) where has_credentials'],
  families: [telemetryEvents, anonymousTelemetryEvents, endpointEvents, authEndpointEvents, domainScanEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => sitesIn(observations),
    AnonymousTelemetryRecorded: ({ data: { observations } }) => sitesIn(observations),
    EndpointClassified: (event) =>
      mark(event.data.domain, at(event), (known) => ({ ...known, classification: event.data.classification })),
    AuthEndpointMfaOverridden: (event) =>
      mark(event.data.domain, at(event), (known) => ({ ...known, mfaOverride: event.data.mfaOverride })),
    DomainScanEnded: ({ data: { domain, endedAt, isMalicious } }) =>
      mark(domain, endedAt, (known) => ({ ...known, isScannedMalicious: isMalicious })),
  },
});

const sitesIn = (observations: readonly Observation[]) =>
  byHost(observations).map((seen) => ({
    key: { site: seen.site },
    fold: (row: SiteRow | undefined) => rated(seenAgain(row ?? unseen(seen.site, seen.firstSeenAt), seen)),
  }));

const unseen = (site: string, seenAt: string): Counters => ({
  site,
  credential_attempts: 0,
  breached_attempts: 0,
  has_credentials: false,
  mfa_sign_ins: 0,
  warnings: 0,
  blocks: 0,
  dangers: 0,
  marks: [],
  first_seen_at: seenAt,
  last_seen_at: seenAt,
});

function seenAgain(row: Counters, { observations, firstSeenAt, lastSeenAt }: HostSightings): Counters {
  const next = {
    ...row,
    first_seen_at: earlier(row.first_seen_at, firstSeenAt),
    last_seen_at: later(row.last_seen_at, lastSeenAt),
  };
  for (const one of observations) count(next, one);
  return next;
}

type Counts = { -readonly [Key in keyof Counters]: Counters[Key] };

function count(into: Counts, one: Observation): void {
  if (one.kind === 'credential_attempt') countAttempt(into, one);
  if (one.kind === 'auth_flow' && one.mfaObserved) into.mfa_sign_ins += 1;
  if (isDanger(one)) into.dangers += 1;
  if ('action' in one && one.action === 'warn') into.warnings += 1;
  if ('action' in one && one.action === 'block') into.blocks += 1;
}

function countAttempt(into: Counts, one: Extract<Observation, { kind: 'credential_attempt' }>): void {
  into.credential_attempts += 1;
  if (one.passwordHash !== null) into.has_credentials = true;
  if (one.isBreached) into.breached_attempts += 1;
}

const isDanger = (one: Observation): boolean =>
  one.kind === 'clickfix_detected' ||
  (one.kind === 'policy_decision' &&
    one.signals.some((signal) => signal === 'phishing_signal' || signal === 'malicious_domain'));

function mark(domain: string, now: string, change: (known: Mark) => Mark) {
  const site = siteOf(domain);
  return {
    key: { site },
    fold: (row: SiteRow | undefined) => {
      const counters = row ?? unseen(site, now);
      const known = counters.marks.find((one) => one.domain === domain) ?? {
        domain,
        classification: null,
        mfaOverride: null,
        isScannedMalicious: false,
      };
      const next = change(known);
      if (saysNothing(next) && saysNothing(known)) return row;
      const others = counters.marks.filter((one) => one.domain !== domain);
      if (others.length >= MAX_MARKS) return row;
      return rated({
        ...counters,
        marks: [...others, next].toSorted((a, b) => (a.domain < b.domain ? -1 : 1)),
      });
    },
  };
}

/** A scan that found nothing. It adds no site to the attack surface. */
const saysNothing = ({ classification, mfaOverride, isScannedMalicious }: Mark): boolean =>
  classification === null && mfaOverride === null && !isScannedMalicious;

function rated(counters: Counters): SiteRow {
  const factors = riskFactors({
    credentialAttempts: counters.credential_attempts,
    breachedAttempts: counters.breached_attempts,
    mfaSignIns: counters.mfa_sign_ins,
    warnings: counters.warnings,
    blocks: counters.blocks,
    dangers: counters.dangers,
    marks: counters.marks,
  });
  return { ...counters, risk_factors: factors, risk_score: riskScore(factors) };
}
