import { siteOf } from '../../../platform/web-addresses/site.ts';
import type { Observation } from '../../telemetry/domain/observation.ts';

/** One report's observations of one host. */
export interface HostSightings {
  readonly domain: string;
  /** Its registrable domain. */
  readonly site: string;
  /** ISO 8601. */
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly observations: readonly Observation[];
}

/** Several read models count the same report; the cache groups it by host only once. */
const known = new WeakMap<readonly Observation[], readonly HostSightings[]>();

/** Groups observations by host. Observations without a host are left out. */
export function byHost(observations: readonly Observation[]): readonly HostSightings[] {
  let sightings = known.get(observations);
  if (!sightings) known.set(observations, (sightings = grouped(observations)));
  return sightings;
}

function grouped(observations: readonly Observation[]): HostSightings[] {
  const hosts = new Map<string, Observation[]>();
  for (const observation of observations) {
    if (observation.domain === null) continue;
    const there = hosts.get(observation.domain);
    if (there) there.push(observation);
    else hosts.set(observation.domain, [observation]);
  }
  return [...hosts].map(([domain, there]) => ({ domain, site: siteOf(domain), ...span(there), observations: there }));
}

export function span(observations: readonly Observation[]): { firstSeenAt: string; lastSeenAt: string } {
  let [firstSeenAt, lastSeenAt] = [observations[0]!.occurredAt, observations[0]!.occurredAt];
  for (const { occurredAt } of observations) {
    if (occurredAt < firstSeenAt) firstSeenAt = occurredAt;
    if (occurredAt > lastSeenAt) lastSeenAt = occurredAt;
  }
  return { firstSeenAt, lastSeenAt };
}

export const earlier = (a: string, b: string): string => (a < b ? a : b);
export const later = (a: string, b: string): string => (a > b ? a : b);
