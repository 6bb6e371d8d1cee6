import { isDeepStrictEqual } from 'node:util';
import { forbidden, type Failure } from '../../../platform/kernel/failure.ts';

/** Where a destination is, and whether it may be in a private network. */
export interface ReachOfDestination {
  readonly allowPrivateNetwork: boolean;
  /** Everything that decides where a connection goes. */
  readonly address: unknown;
}

/**
 * A destination inside the network is the operator's and the owner's decision (OP-551). It holds for the address that
 * it was made for: another admin who moves the destination drops `allowPrivateNetwork` with the same request. `before`
 * is undefined for a new one.
 */
export function refuseUnlessOwnerOfPrivate(
  before: ReachOfDestination | undefined,
  after: ReachOfDestination,
  isSuperAdmin: boolean | undefined,
): Failure | undefined {
  if (isSuperAdmin || !after.allowPrivateNetwork) return undefined;
  const isUnchanged = before?.allowPrivateNetwork === true && isDeepStrictEqual(before.address, after.address);
  return isUnchanged ? undefined : forbidden();
}
