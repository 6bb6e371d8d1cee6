import {
  unreachableDestination,
  type DestinationChoice,
  type OutboundSettings,
} from '../../platform/outbound/destinations.ts';
import { explainedFetch } from '../../platform/outbound/explained-fetch.ts';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';

/** The way to an issuer, for an administrator who tests it. */
export interface IssuerReach {
  /** Explains its failures: `DestinationFailed`. */
  readonly fetch: GuardedFetch;
  readonly allowsHttp: boolean;
  /** Why the service could not call another address of the issuer; undefined if nothing speaks against it. */
  unreachable(address: string): Promise<string | undefined>;
}

export const issuerReach = (settings: OutboundSettings, choice: DestinationChoice): IssuerReach => ({
  fetch: explainedFetch(settings, choice),
  allowsHttp: settings.devMode,
  unreachable: (address) => unreachableDestination(address, settings, choice),
});
