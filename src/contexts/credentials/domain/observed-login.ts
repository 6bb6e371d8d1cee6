import { ERASED } from '../../../platform/kernel/event.ts';
import type { Observation, ObservationOf } from '../../telemetry/domain/observation.ts';
import { siteOf } from '../../../platform/web-addresses/site.ts';

/** A password entry: the part of an observation from which credentials are built. */
export interface ObservedLogin {
  readonly observation: ObservationOf<'credential_attempt'>;
  readonly domain: string;
  readonly site: string;
  /** Empty if the page asked only for a password. */
  readonly username: string;
  readonly passwordHash: string;
}

/**
 * The logins among the observations. Logins of erased persons are left out, because they can no longer be told apart.
 */
export function loginsIn(observations: readonly Observation[]): ObservedLogin[] {
  const logins: ObservedLogin[] = [];
  for (const observation of observations) {
    if (observation.kind !== 'credential_attempt') continue;
    const { domain, username, passwordHash } = observation;
    if (domain === null || passwordHash === null || passwordHash === ERASED || username === ERASED) continue;
    logins.push({ observation, domain, site: siteOf(domain), username: username ?? '', passwordHash });
  }
  return logins;
}
