import { ERASED } from '../../../platform/kernel/event.ts';
import type { Observation, ObservationOf } from '../../telemetry/domain/observation.ts';
import { siteOf } from '../../../platform/web-addresses/site.ts';

/** A password that was entered somewhere: the part of an observation that credentials are made of. */
export interface ObservedLogin {
  readonly observation: ObservationOf<'credential_attempt'>;
  readonly domain: string;
  readonly site: string;
  /** Empty where the page asked for a password alone. */
  readonly username: string;
  readonly passwordHash: string;
}

/** The logins among observations, without those of a person who was erased: of them nothing is left to tell apart. */
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
