import { addressesOf, type DirectoryConfig } from '../../src/contexts/directory-sources/domain/config.ts';
import { invalid, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import type { DestinationChoice, Destinations } from '../../src/platform/outbound/destinations.ts';

/** A directory that no synchronization could ever reach is refused when it is saved, with the field. */
export async function refuseUnreachableDirectory(
  destinations: Destinations,
  config: DirectoryConfig,
  choice: DestinationChoice,
): Promise<Failure | undefined> {
  const judged = addressesOf(config).map(async ([field, address]) => {
    const reason = await destinations.unreachable(address, choice);
    return reason === undefined ? undefined : invalid(field, reason);
  });
  return refuseTogether(...(await Promise.all(judged)));
}
