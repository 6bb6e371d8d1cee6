import { destinationAddress, type DestinationConfig } from '../../src/contexts/log-destinations/domain/config.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import type { DestinationChoice, Destinations } from '../../src/platform/outbound/destinations.ts';

/** A destination that could never be called is refused when it is saved, with the field. */
export async function refuseUnreachableDestination(
  destinations: Destinations,
  config: DestinationConfig,
  choice: DestinationChoice,
): Promise<Failure | undefined> {
  const { field, address } = destinationAddress(config);
  const reason = await destinations.unreachable(address, choice);
  return reason === undefined ? undefined : invalid(field, reason);
}
