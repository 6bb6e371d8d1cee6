import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isMetadataAddress, NO_PRIVATE_NETWORKS, type PrivateNetworks } from './private-networks.ts';
import { isPublicAddress } from './public-addresses.ts';

/** An address that the service does not call. The message says nothing about what is there. */
export class OutboundRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'OutboundRefused';
  }
}

/** Which addresses a destination may have. */
export interface AddressGuard {
  /**
   * Allows all private addresses and plain HTTP: for addresses that the operator sets, and for development. Metadata
   * addresses stay refused.
   */
  readonly allowPrivate: boolean;
  /** Private addresses that are allowed for this destination. Default: none. */
  readonly privateNetworks?: PrivateNetworks;
  /** Resolves names. Default: the system's resolver. */
  readonly resolve?: (
    name: string,
    options: LookupOptions,
    done: (error: Error | null, addresses: LookupAddress[]) => void,
  ) => void;
}

export const NOT_PUBLIC = 'the address is not public';

export const isAllowed = (
  address: string,
  { allowPrivate, privateNetworks = NO_PRIVATE_NETWORKS }: AddressGuard,
): boolean =>
  !isMetadataAddress(address) && (allowPrivate || isPublicAddress(address) || privateNetworks.includes(address));

const resolveBySystem: NonNullable<AddressGuard['resolve']> = (name, asked, done) =>
  systemLookup(name, { ...asked, all: true }, done);

export function guardedLookup(options: AddressGuard): LookupFunction {
  const { resolve = resolveBySystem } = options;
  return (name, asked, done) => {
    resolve(name, asked, (error, addresses) => {
      if (error) return done(error, '');
      // One refused address among others is enough to refuse: only an attacker needs such a name.
      const refused = addresses.length === 0 || addresses.some(({ address }) => !isAllowed(address, options));
      if (refused) return done(new OutboundRefused(NOT_PUBLIC), '');
      const [first] = addresses;
      if (asked.all) done(null, addresses);
      else done(null, first!.address, first!.family);
    });
  };
}
