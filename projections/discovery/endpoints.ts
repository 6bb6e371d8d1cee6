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

/** The last fingerprint, and the number of fingerprinted visits with this technology. */
type Technology = readonly [name: string, version: string | null, versionSeenAt: string, visits: number];

const columns = {
  domain: text,
  endpoint_id: id,
  site: text,
  technologies: json<readonly Technology[]>(),
  fingerprinted_visits: bigint,
  /** A browser reported it as a malicious domain. */
  reported_malicious: flag,
  observations: bigint,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
};
export type EndpointRow = Row<{ columns: typeof columns }>;

/** Limits a site that names a new technology on every visit, so that it does not slow down counting for others. */
export const MAX_TECHNOLOGIES_PER_ENDPOINT = 40;

/**
 * Hosts visited by browsers, one row each, counted on arrival. Contains no personal data: pages and people have their
 * own tables.
 */
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

/**
 * The last seen version wins; of two at the same time the greater one, so that order does not matter. A visit without a
 * version changes none.
 */
function foundAgain(known: Technology | undefined, name: string, version: string | null, seenAt: string): Technology {
  if (!known) return [name, version, seenAt, 1];
  const [, knownVersion, knownAt, visits] = known;
  const newer =
    version !== null && (knownVersion === null || seenAt > knownAt || (seenAt === knownAt && version > knownVersion));
  return newer
    ? [name, version, seenAt, visits + 1]
    : [name, knownVersion, knownVersion === null ? later(knownAt, seenAt) : knownAt, visits + 1];
}
