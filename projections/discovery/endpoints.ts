import { endpointId } from '../../src/contexts/discovery/domain/identity.ts';
import { byHost, earlier, later, type HostSightings } from '../../src/contexts/discovery/domain/sightings.ts';
import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import {
  bigint,
  defineReadModel,
  flag,
  id,
  json,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

/** As fingerprinted last, and in how many of the visits that fingerprinted anything. */
type Technology = readonly [name: string, version: string | null, versionSeenAt: string, visits: number];

const columns = {
  domain: text,
  endpoint_id: id,
  site: text,
  technologies: json<readonly Technology[]>(),
  fingerprinted_visits: bigint,
  /** A browser took it for a malicious domain. */
  reported_malicious: flag,
  observations: bigint,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
};
export type EndpointRow = Row<{ columns: typeof columns }>;

/** A site that names a new technology on every visit is not to slow down the counting for everybody else. */
export const MAX_TECHNOLOGIES_PER_ENDPOINT = 40;

/** Hosts that browsers were on, one row each, counted as they are seen. Nothing in it is a person's: pages and people stand apart. */
export const endpoints = defineReadModel({
  name: 'endpoints',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['domain'],
  indexes: [
    ['first_seen_at desc', 'domain'],
    ['endpoint_id'],
    ['site', 'domain'],
    '(tenant_id, endpoint_id) where reported_malicious',
    'using gin (tenant_id, domain gin_trgm_ops)',
  ],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ tenantId, data: { observations } }) => hostsIn(tenantId, observations),
    AnonymousTelemetryRecorded: ({ tenantId, data: { observations } }) => hostsIn(tenantId, observations),
  },
});

const hostsIn = (tenantId: string, observations: readonly Observation[]) =>
  byHost(observations).map((seen) => ({
    key: { domain: seen.domain },
    fold: (row: EndpointRow | undefined) => seenAgain(row ?? firstSeen(tenantId, seen), seen),
  }));

const firstSeen = (tenantId: string, { domain, site, firstSeenAt, lastSeenAt }: HostSightings): EndpointRow => ({
  domain,
  endpoint_id: endpointId(tenantId, domain),
  site,
  technologies: [],
  fingerprinted_visits: 0,
  reported_malicious: false,
  observations: 0,
  first_seen_at: firstSeenAt,
  last_seen_at: lastSeenAt,
});

function seenAgain(row: EndpointRow, { observations, firstSeenAt, lastSeenAt }: HostSightings): EndpointRow {
  const technologies = new Map(row.technologies.map((technology) => [technology[0], technology]));
  let fingerprinted = 0;
  for (const observation of observations) {
    if (observation.kind !== 'navigation' || observation.technologies.length === 0) continue;
    fingerprinted += 1;
    for (const [name, version] of new Map(observation.technologies.map((found) => [found.name, found.version]))) {
      const known = technologies.get(name);
      if (known || technologies.size < MAX_TECHNOLOGIES_PER_ENDPOINT)
        technologies.set(name, foundAgain(known, name, version, observation.occurredAt));
    }
  }
  return {
    ...row,
    technologies:
      fingerprinted === 0 ? row.technologies : [...technologies.values()].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    fingerprinted_visits: row.fingerprinted_visits + fingerprinted,
    reported_malicious:
      row.reported_malicious ||
      observations.some((one) => one.kind === 'policy_decision' && one.signals.includes('malicious_domain')),
    observations: row.observations + observations.length,
    first_seen_at: earlier(row.first_seen_at, firstSeenAt),
    last_seen_at: later(row.last_seen_at, lastSeenAt),
  };
}

/** The version that was seen last stands; of two at once the greater, so that order leaves no trace. A visit that names none changes none. */
function foundAgain(known: Technology | undefined, name: string, version: string | null, seenAt: string): Technology {
  if (!known) return [name, version, seenAt, 1];
  const [, knownVersion, knownAt, visits] = known;
  const newer =
    version !== null && (knownVersion === null || seenAt > knownAt || (seenAt === knownAt && version > knownVersion));
  return newer
    ? [name, version, seenAt, visits + 1]
    : [name, knownVersion, knownVersion === null ? later(knownAt, seenAt) : knownAt, visits + 1];
}
